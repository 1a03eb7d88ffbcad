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

// clang is the C compiler for WebAssembly. Another version would write different bytes.
const clang = "clang-19"

// cSDK is the path of the C SDK from a plugin's folder.
const cSDK = "../../sdk/c"

// cCommand returns the command that compiles a plugin written in C: all files of its folder except
// tests, with the flags in the SDK's wasm.flags, and with every warning as an error.
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

// cKept are the variables that do not affect the output of a C compiler.
var cKept = []string{"PATH", "HOME", "TMPDIR"}

// cEnvironment returns a process's environment without variables that could change the bytes of a
// plugin, such as CPATH.
func cEnvironment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(cKept, name)
	})
}
