package attack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// assembler is the program that makes modules of their text.
const assembler = "wat2wasm"

// assemble makes a module of its text. What was made is kept in the directory
// cache, which must exist, by the content of the text.
func assemble(ctx context.Context, cache, source string, features []string) ([]byte, error) {
	args := []string{"-", "--output=-"}
	for _, f := range features {
		if f == "no-check" {
			args = append(args, "--no-check")
		} else {
			args = append(args, "--enable-"+f)
		}
	}
	digest := sha256.Sum256([]byte(strings.Join(args, " ") + "\n" + source))
	path := filepath.Join(cache, hex.EncodeToString(digest[:])+".wasm")
	if binary, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		return binary, err
	}
	command := exec.CommandContext(ctx, assembler, args...)
	var out, complaints bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(source), &out, &complaints
	switch err := command.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: run tools/setup.sh guests", err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", assembler, err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out.Bytes(), keep(path, out.Bytes())
}

// keep writes a file as a whole: others may assemble the same at the same
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
