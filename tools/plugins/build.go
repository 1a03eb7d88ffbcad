package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// examples is where the plugins lie: a folder each with a main.go.
const examples = "plugins/examples"

// plugins are the names of the example plugins, sorted.
func plugins(root string) ([]string, error) {
	mains, err := filepath.Glob(filepath.Join(root, examples, "*", "main.go"))
	if err != nil {
		return nil, err
	}
	if len(mains) == 0 {
		return nil, fmt.Errorf("%s holds no plugin; name the checkout with -root", filepath.Join(root, examples))
	}
	var names []string
	for _, path := range mains {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	return names, nil
}

// build compiles a plugin and checks that an agent could load it. It has no
// build ID: that would change with every comment, and the digest with it.
func build(ctx context.Context, root, name string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "plugins-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name+".wasm")
	command := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", file, "./"+name)
	command.Dir = filepath.Join(root, examples)
	command.Env = environment(os.Environ())
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

// kept are the variables of the go command that only say where things lie.
var kept = []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "GOTMPDIR"}

// environment is a process's environment without what could make other bytes
// of a plugin or reach for the network.
func environment(all []string) []string {
	env := slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "GO") && !slices.Contains(kept, name)
	})
	return append(env, "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0",
		"GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOPROXY=off")
}

// hooks are the exports of which a plugin must have one.
var hooks = []string{"wardlet_admit"}

// offered are the functions an agent offers, by module.
var offered = map[string][]string{
	"wardlet1": {
		"path", "setting", "reason", "warn", "annotate", "explain", "retry_after_ms", "log", "log_enabled",
	},
	"wasi_snapshot_preview1": {
		"sched_yield", "proc_exit", "args_get", "args_sizes_get", "clock_time_get", "environ_get", "environ_sizes_get",
		"fd_write", "random_get", "poll_oneoff", "fd_close", "fd_fdstat_get", "fd_fdstat_set_flags",
		"fd_prestat_get", "fd_prestat_dir_name",
	},
}

// checkModule reports what would make an agent refuse a module.
func checkModule(module []byte) error {
	m, err := readModule(module)
	if err != nil {
		return err
	}
	var faults []error
	for _, i := range m.imports {
		if !slices.Contains(offered[i.module], i.name) {
			faults = append(faults, fmt.Errorf("it imports %s of %s, which no agent offers", i.name, i.module))
		}
	}
	wanted := []string{"memory", "wardlet_abi_1_0"}
	if slices.Contains(m.imports, function{"wardlet1", "path"}) {
		wanted = append(wanted, "wardlet_init", "wardlet_input")
	}
	for _, export := range wanted {
		if !slices.Contains(m.exports, export) {
			faults = append(faults, fmt.Errorf("it does not export %s; import the SDK", export))
		}
	}
	if !slices.ContainsFunc(hooks, func(hook string) bool { return slices.Contains(m.exports, hook) }) {
		faults = append(faults, fmt.Errorf("it exports no hook (%s); import sdk/admit", strings.Join(hooks, ", ")))
	}
	if m.start {
		faults = append(faults, errors.New("it has a start section; build it with -buildmode=c-shared"))
	}
	return errors.Join(faults...)
}
