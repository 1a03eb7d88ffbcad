package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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

// source is a module's text.
func source(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "modules", name+ending))
	return string(text), err
}

// assemble runs wat2wasm, with the features that the first line names.
func assemble(ctx context.Context, name string) ([]byte, error) {
	text, err := source(name)
	if err != nil {
		return nil, err
	}
	args := []string{"-", "--output=-"}
	first, _, _ := strings.Cut(text, "\n")
	if features, ok := strings.CutPrefix(first, ";; features: "); ok {
		for feature := range strings.FieldsSeq(features) {
			if feature != "no-check" {
				feature = "enable-" + feature
			}
			args = append(args, "--"+feature)
		}
	}
	command := exec.CommandContext(ctx, "wat2wasm", args...)
	var out, complaints bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), &out, &complaints
	switch err := command.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: run tools/setup.sh guests", err)
	case err != nil:
		return nil, fmt.Errorf("assemble %s: %w: %s", name, err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out.Bytes(), nil
}
