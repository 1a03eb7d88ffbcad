package spectest

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Transform changes a module before it is compiled. An error means that it
// refuses the module.
type Transform func(module []byte) ([]byte, error)

// Config says how scripts are run.
type Config struct {
	// Runtime has the engine and the features of the specification's version.
	Runtime wazero.RuntimeConfig
	// Host is the module "spectest" that the scripts import from. It is never
	// transformed.
	Host []byte
	// Transform is applied to every module of a script, also to those that must
	// be refused. Nil leaves modules as they are.
	Transform Transform
	// Ready, where set, is called with each new runtime, to offer host
	// functions that transformed modules import.
	Ready func(ctx context.Context, r wazero.Runtime) error
	// Prepare, where set, is called with each new instance, and with all
	// instances of the script before each call of a function: a trap leaves
	// what a meter counts as it was then. Start functions run before it, and
	// instances whose start function traps never get here though their
	// functions may live on in tables: host functions of Ready must do for both.
	Prepare func(m api.Module)
}
