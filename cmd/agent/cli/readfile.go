package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/wardlet/wardlet/core/config"
)

// whileAsked calls read, which reads the named file to its end and does not return
// before. A pipe is a file too, and may have no end: when ctx ends, read is left alone.
func whileAsked[T any](ctx context.Context, name string, read func() (T, error)) (T, error) {
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
		return none, fmt.Errorf("%s was not read to its end: %w", subject(name), ctx.Err())
	}
}

// subject is what errors call the file.
func subject(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// manifests are the files that the flags of one command name, each read once: what a
// pipe has said it does not say again.
type manifests map[string][]byte

// read reads a file with a pod to its end, "-" for standard input.
func (m manifests) read(ctx context.Context, path string) ([]byte, error) {
	if text, known := m[path]; known {
		return text, nil
	}
	text, err := whileAsked(ctx, path, func() ([]byte, error) { return readManifest(path) })
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
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = fmt.Errorf("%s has more than the %d bytes that a pod may have", subject(path), maxManifest)
	}
	return text, err
}

// loadConfig loads the configuration that --config names.
func (a *app) loadConfig(ctx context.Context) (*config.Config, error) {
	return whileAsked(ctx, a.configPath, func() (*config.Config, error) { return config.Load(a.configPath) })
}
