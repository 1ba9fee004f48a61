package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"circle/internal/testkit/tree"
)

// generate runs the generators and fails if that changed what was there. It compares the files, not
// the work tree with its last commit, since the tree of someone at work differs anyway.
func (r *run) generate(ctx context.Context) error {
	before, err := generatedFiles(".")
	if err != nil {
		return err
	}
	if err := r.goTool(ctx, "generate"); err != nil {
		return err
	}
	after, err := generatedFiles(".")
	if err != nil {
		return err
	}
	if changed := difference(before, after); len(changed) > 0 {
		return fmt.Errorf("out of date and now generated anew: %s", strings.Join(changed, ", "))
	}
	return nil
}

// generatedFiles maps each generated file below root to the hash of its content.
func generatedFiles(root string) (map[string][sha256.Size]byte, error) {
	files, err := tree.GoFiles(root)
	if err != nil {
		return nil, err
	}
	hashes := map[string][sha256.Size]byte{}
	for _, file := range files {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("generated files: %w", err)
		}
		if tree.IsGenerated(source) {
			hashes[file] = sha256.Sum256(source)
		}
	}
	return hashes, nil
}

// difference lists the files that are not the same in both, sorted.
func difference(before, after map[string][sha256.Size]byte) []string {
	var changed []string
	for file, hash := range after {
		if old, found := before[file]; !found || old != hash {
			changed = append(changed, file)
		}
	}
	for file := range before {
		if _, found := after[file]; !found {
			changed = append(changed, file+" (gone)")
		}
	}
	slices.Sort(changed)
	return changed
}

// format fails if gofmt would change a file.
func (r *run) format(ctx context.Context) error {
	files, err := tree.GoFiles(".")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no Go files")
	}
	out, err := output(ctx, "gofmt", append([]string{"-l"}, files...)...)
	if err != nil {
		return err
	}
	if unformatted := strings.Fields(string(out)); len(unformatted) > 0 {
		return fmt.Errorf("not formatted, make fmt does it: %s", strings.Join(unformatted, ", "))
	}
	return nil
}
