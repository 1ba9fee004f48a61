// Package tree finds the files of the checkout, for checks that read it.
package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// skipped are folders of what is fetched, built or written at run time, beside those whose name
// begins with a dot.
var skipped = []string{"bin", "data", "node_modules", "vendor"}

// Root is the folder of the module that the working directory lies in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("root of the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("root of the module: no go.mod here or above")
		}
		dir = parent
	}
}

// GoFiles lists the Go files below root, generated ones and those of testdata included, as sorted
// slash-separated paths relative to it.
func GoFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(entry.Name(), ".") || slices.Contains(skipped, entry.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") {
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list Go files below %s: %w", root, err)
	}
	slices.Sort(files)
	return files, nil
}

// IsGenerated tells whether a Go file says of itself that a program wrote it.
func IsGenerated(source []byte) bool {
	for line := range strings.Lines(string(source)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, " DO NOT EDIT.") {
			return true
		}
		if strings.HasPrefix(line, "package ") {
			return false
		}
	}
	return false
}
