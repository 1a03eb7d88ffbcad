package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/config"
)

// ReadUntil calls read, which reads the named file to its end before it returns. The file may be a
// pipe that never ends: once ctx is done, ReadUntil returns without waiting for read.
func ReadUntil[T any](ctx context.Context, name string, read func() (T, error)) (T, error) {
	type answer struct {
		content T
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		content, err := read()
		done <- answer{content, err}
	}()
	select {
	case a := <-done:
		return a.content, a.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%s was not read to its end: %w", FileName(name), ctx.Err())
	}
}

// FileName returns the name of the file for errors.
func FileName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// MaxManifest bounds a file with a pod, in bytes.
const MaxManifest = 1 << 20

// Manifests caches the files that the flags of one command name. Each file is read once, because a
// pipe cannot be read a second time.
type Manifests map[string][]byte

// Read reads a file with a pod to its end, "-" for standard input.
func (m Manifests) Read(ctx context.Context, path string) ([]byte, error) {
	if text, known := m[path]; known {
		return text, nil
	}
	text, err := ReadUntil(ctx, path, func() ([]byte, error) { return readManifest(path) })
	if err == nil {
		m[path] = text
	}
	return text, err
}

func readManifest(path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxManifest+1))
	if err == nil && len(text) > MaxManifest {
		err = fmt.Errorf("%s has more than the %d bytes that a pod may have", FileName(path), MaxManifest)
	}
	return text, err
}

// LoadConfig loads the configuration that --config names.
func (a *App) LoadConfig(ctx context.Context) (*config.Config, error) {
	return ReadUntil(ctx, a.ConfigPath, func() (*config.Config, error) { return config.Load(a.ConfigPath) })
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
