package author

import (
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// The types of what InspectModule returns.
type (
	// ModuleReport is what the sandbox finds in a plugin's module.
	ModuleReport = wasm.Report
	// ModuleContents has the parts of a module.
	ModuleContents = wasm.Contents
	// ModuleImport is something that a module needs.
	ModuleImport = wasm.Imported
	// ModuleMemory is the size of a module's memory.
	ModuleMemory = wasm.MemorySize
)

// InspectModule looks at a plugin's module as an agent of this configuration
// would, without compiling or running it.
func InspectModule(binary []byte, p *config.Policy) *ModuleReport {
	return wasm.Inspect(binary, wasm.WithCaps(parts.ModuleCaps(p)))
}
