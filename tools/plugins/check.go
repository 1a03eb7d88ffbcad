package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// hooks are the exports for hooks. A plugin must have at least one of them.
var hooks = []string{"wardlet_admit", "wardlet_merge", "wardlet_filter", "wardlet_connect"}

// offered has the functions that an agent offers, by module.
var offered = map[string][]string{
	"wardlet1": {
		"path", "field", "get", "json", "setting",
		"reason", "warn", "annotate", "explain", "retry_after_ms", "patch", "log", "log_enabled",
	},
	"wasi_snapshot_preview1": {
		"sched_yield", "proc_exit", "args_get", "args_sizes_get", "clock_time_get", "environ_get", "environ_sizes_get",
		"fd_write", "random_get", "poll_oneoff", "fd_close", "fd_fdstat_get", "fd_fdstat_set_flags",
		"fd_prestat_get", "fd_prestat_dir_name",
	},
}

// checkModule returns the reasons for which an agent would refuse a module.
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
	} else if slices.Contains(m.imports, function{"wardlet1", "field"}) {
		wanted = append(wanted, "wardlet_init")
	}
	for _, export := range wanted {
		if !slices.Contains(m.exports, export) {
			faults = append(faults, fmt.Errorf("it does not export %s; use the SDK", export))
		}
	}
	if !slices.ContainsFunc(hooks, func(hook string) bool { return slices.Contains(m.exports, hook) }) {
		faults = append(faults, fmt.Errorf("it exports no hook (%s); use one of the SDK's", strings.Join(hooks, ", ")))
	}
	if m.start {
		faults = append(faults, errors.New("it has a start section; build it as a library (Go: -buildmode=c-shared, C: --no-entry)"))
	}
	return errors.Join(faults...)
}
