package wasm

import "github.com/tetratelabs/wazero/api"

// Hook is a kind of decision that plugins are asked for.
type Hook string

// The hooks.
const (
	HookAdmit   Hook = "admit"
	HookMerge   Hook = "merge"
	HookFilter  Hook = "filter"
	HookConnect Hook = "connect"
)

// hooks are the names of the exported functions, by the hook that a policy names.
var hooks = map[string]string{
	string(HookAdmit): "wardlet_admit", string(HookMerge): "wardlet_merge", string(HookFilter): "wardlet_filter",
	string(HookConnect): "wardlet_connect",
}

// hookFunctions are a module's functions for each hook, nil if the module has none.
type hookFunctions struct{ admit, merge, filter, connect api.Function }

func findHooks(module api.Module) hookFunctions {
	return hookFunctions{
		admit:   module.ExportedFunction(hooks[string(HookAdmit)]),
		merge:   module.ExportedFunction(hooks[string(HookMerge)]),
		filter:  module.ExportedFunction(hooks[string(HookFilter)]),
		connect: module.ExportedFunction(hooks[string(HookConnect)]),
	}
}

func (f *hookFunctions) of(hook Hook) api.Function {
	switch hook {
	case HookAdmit:
		return f.admit
	case HookMerge:
		return f.merge
	case HookConnect:
		return f.connect
	default:
		return f.filter
	}
}
