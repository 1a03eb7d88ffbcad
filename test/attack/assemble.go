package attack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/test/wasmtest/wat"
)

// assemble assembles a module from its text. It keeps the module in the directory cache, which must
// exist, by the digest of the text.
func assemble(ctx context.Context, cache, source string, features []string) ([]byte, error) {
	digest := sha256.Sum256([]byte(strings.Join(features, " ") + "\n" + source))
	path := filepath.Join(cache, hex.EncodeToString(digest[:])+".wasm")
	if binary, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return binary, err
	}
	binary, err := wat.Assemble(ctx, source, features...)
	if err != nil {
		return nil, err
	}
	return binary, keep(path, binary)
}

// keep writes a file atomically, because other processes may assemble the same module at the same
// time.
func keep(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}
