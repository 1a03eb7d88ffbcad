package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// examples is the directory of the plugins. Each plugin has a folder with a main.go or main.c.
const examples = "plugins/examples"

// languages has a function for the name of each main file. The function returns the command that
// compiles a plugin to a file.
var languages = map[string]func(ctx context.Context, root, name, file string) (*exec.Cmd, error){
	"main.go": goCommand,
	"main.c":  cCommand,
}

// plugins returns the names of the example plugins, sorted.
func plugins(root string) ([]string, error) {
	var names []string
	for main := range languages {
		mains, err := filepath.Glob(filepath.Join(root, examples, "*", main))
		if err != nil {
			return nil, err
		}
		for _, path := range mains {
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no plugin; name the checkout with -root", filepath.Join(root, examples))
	}
	slices.Sort(names)
	if twice := slices.Compact(slices.Clone(names)); len(twice) < len(names) {
		return nil, fmt.Errorf("a plugin in %s has a main file of two languages; take one away", filepath.Join(root, examples))
	}
	return names, nil
}

// build compiles a plugin and checks that an agent could load it.
func build(ctx context.Context, root, name string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "plugins-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name+".wasm")
	command, err := compiler(ctx, root, name, file)
	if err != nil {
		return nil, fmt.Errorf("build plugin %s: %w", name, err)
	}
	if said, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build plugin %s: %w\n%s", name, err, said)
	}
	module, err := os.ReadFile(file)
	if err == nil {
		err = checkModule(module)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", name, err)
	}
	return module, nil
}

// compiler returns the command for the language of a plugin.
func compiler(ctx context.Context, root, name, file string) (*exec.Cmd, error) {
	for main, command := range languages {
		if _, err := os.Stat(filepath.Join(root, examples, name, main)); err == nil {
			return command(ctx, root, name, file)
		}
	}
	return nil, fmt.Errorf("%s holds neither main.go nor main.c", filepath.Join(root, examples, name))
}

// goCommand returns the command that compiles a plugin written in Go. There is no build ID, because
// the ID would change with every comment, and the digest with it.
func goCommand(ctx context.Context, root, name, file string) (*exec.Cmd, error) {
	command := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", file, "./"+name)
	command.Dir = filepath.Join(root, examples)
	command.Env = environment(os.Environ())
	return command, nil
}

// kept are the variables of the go command that only name directories.
var kept = []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "GOTMPDIR"}

// environment returns a process's environment without variables that could change the bytes of a
// plugin or cause downloads.
func environment(all []string) []string {
	env := slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "GO") && !slices.Contains(kept, name)
	})
	return append(env, "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0",
		"GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOPROXY=off")
}
