// Package wat assembles modules from their text, for tests. It needs wat2wasm of WABT, which
// tools/setup.sh guests installs. It owns no goroutine.
package wat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

const assembler = "wat2wasm"

// Assemble assembles a module from its text. It enables each feature by wat2wasm's name for it; the
// feature no-check disables type checking.
func Assemble(ctx context.Context, text string, features ...string) ([]byte, error) {
	args := []string{"-", "--output=-"}
	for _, f := range features {
		if f != "no-check" {
			f = "enable-" + f
		}
		args = append(args, "--"+f)
	}
	command := exec.CommandContext(ctx, assembler, args...)
	var out, complaints bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), &out, &complaints
	switch err := command.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: run tools/setup.sh guests", err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", assembler, err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out.Bytes(), nil
}
