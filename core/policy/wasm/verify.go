package wasm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	markerPrefix = "wardlet_abi_"
	abiMajor     = "1"
)

// hooks are the exports behind the hooks a policy can name.
var hooks = map[string]string{"admit": "wardlet_admit"}

// verify refuses what cannot be run as a plugin, before any of it is compiled.
// All unknown imports are named at once.
func (l *layout) verify(o *Options) error {
	if err := errors.Join(l.verifyABI(), l.verifyHooks(o.Hooks)); err != nil {
		return &Failure{Code: AbiMismatch, Err: err}
	}
	if err := l.verifyImports(); err != nil {
		return &Failure{Code: HostDenied, Err: err}
	}
	if err := l.verifyTypes(); err != nil {
		return &Failure{Code: AbiMismatch, Err: err}
	}
	memory, ok := l.exports["memory"]
	switch {
	case l.start:
		return failf(AbiMismatch, "the module has a start section: it would run before the sandbox is ready; "+
			"export the function as _initialize instead")
	case l.memories != 1:
		return failf(AbiMismatch, "the module defines %d memories: it must have exactly one", l.memories)
	case l.shared:
		return failf(AbiMismatch, "the memory is shared: threads are not supported in this version")
	case !ok || memory.kind != kindMemory:
		return failf(AbiMismatch, `the module does not export its memory as "memory"`)
	case l.pages > uint64(o.MemoryPages):
		return failf(MemoryLimit, "the module begins with %d pages of memory, the policy allows %d: raise memory_pages of its [limits]",
			l.pages, o.MemoryPages)
	}
	return l.verifyGlobals()
}

func (l *layout) verifyABI() error {
	var found []string
	for name, e := range l.exports {
		version, ok := strings.CutPrefix(name, markerPrefix)
		if !ok || e.kind != kindFunction {
			continue
		}
		major, minor, _ := strings.Cut(version, "_")
		if _, err := strconv.ParseUint(minor, 10, 16); err == nil && major == abiMajor {
			return nil
		}
		found = append(found, name)
	}
	if len(found) == 0 {
		return errors.New("the module exports no function wardlet_abi_1_0: it is not a Wardlet plugin, or its SDK was not linked")
	}
	slices.Sort(found)
	return fmt.Errorf("the module is made for %s: only wardlet_abi_1 is supported in this version", shown(strings.Join(found, ", ")))
}

func (l *layout) verifyHooks(wanted []string) error {
	var faults []error
	for _, hook := range wanted {
		name, ok := hooks[hook]
		if !ok {
			faults = append(faults, fmt.Errorf("the hook %q is not supported in this version", hook))
		} else if e, ok := l.exports[name]; !ok || e.kind != kindFunction {
			faults = append(faults, fmt.Errorf("the policy names the hook %q, but the module exports no function %s", hook, name))
		}
	}
	return errors.Join(faults...)
}

func (l *layout) verifyImports() error {
	var unknown []string
	for _, i := range l.imports {
		if _, ok := offered(i.module, i.name); !ok {
			unknown = append(unknown, fmt.Sprintf("%q of %q", cut(i.name, maxShown), cut(i.module, maxShown)))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	const shown = 10
	more := ""
	if len(unknown) > shown {
		more = fmt.Sprintf(" and %d more", len(unknown)-shown)
		unknown = unknown[:shown]
	}
	return fmt.Errorf("the module asks for functions that are not offered: %s%s; docs/abi.md lists those that are",
		strings.Join(unknown, ", "), more)
}
