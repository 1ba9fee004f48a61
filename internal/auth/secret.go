package auth

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MinSecretLength is the least length of the secret, in bytes.
const MinSecretLength = 32

const secretFile = "jwt-secret"

// LoadSecret gives the secret from which all keys are derived: the configured one, or else the one
// in the folder dataDir, which is made at random when there is none. Processes that start at once
// agree on one.
func LoadSecret(configured, dataDir string) ([]byte, error) {
	if configured != "" {
		if len(configured) < MinSecretLength {
			return nil, fmt.Errorf("CIRCLE_JWT_SECRET must have at least %d bytes", MinSecretLength)
		}
		return []byte(configured), nil
	}
	path := filepath.Join(dataDir, secretFile)
	secret, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := makeSecret(path); err != nil {
		return nil, fmt.Errorf("make a secret, as CIRCLE_JWT_SECRET is not set: %w", err)
	}
	return readSecret(path)
}

func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) < MinSecretLength {
		return nil, fmt.Errorf("the secret in %s is damaged: set CIRCLE_JWT_SECRET, or remove the file to end all sessions", path)
	}
	return secret, nil
}

// makeSecret writes a whole file and then gives it its name, unless another process was faster.
func makeSecret(path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// CreateTemp makes files that only their owner can read.
	f, err := os.CreateTemp(dir, secretFile+".*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	var secret [MinSecretLength]byte
	_, _ = rand.Read(secret[:]) // never fails
	_, err = f.WriteString(hex.EncodeToString(secret[:]) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// DeriveKey makes the key of 32 bytes that the secret gives for a purpose; keys of different
// purposes tell nothing of each other.
func DeriveKey(secret []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, sha256.Size)
	if err != nil {
		panic("HKDF refuses a key of 32 bytes: " + err.Error())
	}
	return key
}
