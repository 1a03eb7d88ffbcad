package abi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/test/wasmtest/wat"
)

const ending = ".wat"

func trimEnding(name string) string { return strings.TrimSuffix(name, ending) }

// assembled are the modules that tests share, by name.
var assembled sync.Map

// module assembles a module of the set, once.
func module(tb testing.TB, name string) []byte {
	tb.Helper()
	once, _ := assembled.LoadOrStore(name, sync.OnceValues(func() ([]byte, error) { return assemble(context.Background(), name) }))
	binary, err := once.(func() ([]byte, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// source returns a module's text.
func source(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "modules", name+ending))
	return string(text), err
}

// assemble assembles a module with the features that its first line names.
func assemble(ctx context.Context, name string) ([]byte, error) {
	text, err := source(name)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(text, "\n")
	var features []string
	if all, ok := strings.CutPrefix(first, ";; features: "); ok {
		features = strings.Fields(all)
	}
	binary, err := wat.Assemble(ctx, text, features...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return binary, nil
}
