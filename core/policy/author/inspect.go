package author

import (
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// What InspectModule finds.
type (
	// ModuleReport is what the sandbox finds in a plugin's module.
	ModuleReport = wasm.Report
	// ModuleContents is what a module consists of.
	ModuleContents = wasm.Contents
	// ModuleImport is something that a module needs.
	ModuleImport = wasm.Imported
	// ModuleMemory is how large a module's memory is.
	ModuleMemory = wasm.MemorySize
)

// InspectModule looks at a plugin's module as an agent of this configuration
// would, without compiling or running it.
func InspectModule(binary []byte, p *config.Policy) *ModuleReport {
	return wasm.Inspect(binary, wasm.WithCaps(parts.ModuleCaps(p)))
}
