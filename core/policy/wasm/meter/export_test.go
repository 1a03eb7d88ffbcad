package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// Weight returns the fuel of an instruction, for tests that do not depend on the amount.
func Weight(op module.Op) int64 {
	info, _ := op.Info()
	return int64(weight(info))
}
