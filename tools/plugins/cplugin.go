package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The C compiler that makes WebAssembly. Another version writes other bytes.
const clang = "clang-19"

// cSDK is where the C SDK lies, seen from a plugin's folder.
const cSDK = "../../sdk/c"

// cCommand compiles a plugin written in C: all files of its folder but tests,
// as wasm.flags of the SDK says, with every warning an error.
func cCommand(ctx context.Context, root, name, file string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(clang); err != nil {
		return nil, errors.New(clang + " is not here: run tools/setup.sh guests")
	}
	folder := filepath.Join(root, examples, name)
	sources, err := filepath.Glob(filepath.Join(folder, "*.c"))
	if err != nil {
		return nil, err
	}
	args := []string{"--no-default-config", "@" + cSDK + "/wasm.flags", "-Werror", "-I" + cSDK, "-o", file}
	for _, source := range sources {
		if !strings.HasSuffix(source, "_test.c") {
			args = append(args, filepath.Base(source))
		}
	}
	command := exec.CommandContext(ctx, clang, args...)
	command.Dir = folder
	command.Env = cEnvironment(os.Environ())
	return command, nil
}

// cKept are the variables that do not change what a C compiler makes.
var cKept = []string{"PATH", "HOME", "TMPDIR"}

// cEnvironment is a process's environment without what could make other bytes
// of a plugin, such as CPATH.
func cEnvironment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(cKept, name)
	})
}
