package replay

import (
	"context"

	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// scripted is a Loader of scripts.
type scripted struct{ *policytest.Scripts }

func (l scripted) Load(ctx context.Context, binary []byte, o wasm.Options) (eval.Plugin, error) {
	return l.Scripts.Load(ctx, binary, o)
}
