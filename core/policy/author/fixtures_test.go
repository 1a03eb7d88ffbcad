package author

import (
	"context"
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// scripted is a Loader of scripts.
type scripted struct{ *policytest.Scripts }

func (l scripted) Load(ctx context.Context, binary []byte, o wasm.Options) (eval.Plugin, error) {
	return l.Scripts.Load(ctx, binary, o)
}

// policiesIn returns the options to load the policies of a directory, with scripts as
// plugins.
func policiesIn(d policytest.Tree, s *policytest.Scripts) rollout.Options {
	return rollout.Options{
		Options: bundle.Options{Dir: d.Dir}, Node: "node-1", Loader: scripted{s}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}
