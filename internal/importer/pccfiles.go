package importer

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The contest's files.
const (
	userFile    = "user.csv"
	friendsFile = "friends.csv"
	likeFile    = "like.csv"
)

var pccFiles = []string{userFile, friendsFile, likeFile}

// eachPCCFile calls read for each of the contest's files in a folder, or in a tar archive that may
// be compressed with gzip or bzip2, in the order in which they come.
func eachPCCFile(path string, read func(name string, r io.Reader) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return eachInArchive(path, read)
	}
	for _, name := range pccFiles {
		if err := readFile(filepath.Join(path, name), func(r io.Reader) error { return read(name, r) }); err != nil {
			return err
		}
	}
	return nil
}

func readFile(path string, read func(r io.Reader) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return read(f)
}

func eachInArchive(archive string, read func(name string, r io.Reader) error) error {
	missing := slices.Clone(pccFiles)
	err := readFile(archive, func(r io.Reader) error {
		plain, err := decompressed(r)
		if err != nil {
			return err
		}
		for entries := tar.NewReader(plain); ; {
			entry, err := entries.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			name := path.Base(entry.Name)
			if entry.Typeflag != tar.TypeReg || !slices.Contains(pccFiles, name) {
				continue
			}
			at := slices.Index(missing, name)
			if at < 0 {
				return fmt.Errorf("%s is there twice", name)
			}
			missing = slices.Delete(missing, at, at+1)
			if err := read(name, entries); err != nil {
				return err
			}
		}
	})
	if err == nil && len(missing) > 0 {
		return fmt.Errorf("%s is missing", strings.Join(missing, ", "))
	}
	return err
}

// decompressed tells the kind of an archive by its first bytes.
func decompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<20)
	magic, err := b.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte("BZh")):
		return bzip2.NewReader(b), nil
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(b)
	}
	return b, nil
}
