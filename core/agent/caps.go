package agent

import (
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// moduleCaps bound the size and shape of plugins. The operator says how long a
// module and its code may be. The code with what counts its fuel may grow by as
// much as it may by default, to 8/3 of the code: guests in C and Go come to 4/3.
func moduleCaps(p *config.Policy) verify.Caps {
	caps := verify.Default()
	caps.Metered = int(int64(caps.Metered) * int64(p.CodeBytes) / int64(caps.Code))
	caps.Module, caps.Code = p.ModuleBytes, p.CodeBytes
	return caps
}
