package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// Weight is what an instruction takes, for tests of what does not depend on
// how much that is.
func Weight(op module.Op) int64 {
	info, _ := op.Info()
	return int64(weight(info))
}
