package spectest

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Transform changes a module before it is compiled. An error means that the transform refuses the
// module.
type Transform func(module []byte) ([]byte, error)

// Config sets how scripts are run.
type Config struct {
	// Runtime has the engine and the features of the specification's version.
	Runtime wazero.RuntimeConfig
	// Host is the module "spectest", from which the scripts import. It is never transformed.
	Host []byte
	// Transform is applied to every module of a script, also to those that must be refused. If it
	// is nil, modules are unchanged.
	Transform Transform
	// Ready, if set, is called with each new runtime, to add the host functions that transformed
	// modules import.
	Ready func(ctx context.Context, r wazero.Runtime) error
	// Prepare, if set, is called with each new instance, and with all instances of the script
	// before each call of a function, because a trap leaves the meter's counters at their values.
	// Start functions run before Prepare. An instance whose start function traps is never prepared,
	// though its functions may live on in tables: the host functions of Ready must work in both
	// cases.
	Prepare func(m api.Module)
}
