package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// The outcomes of making a decision with other policies, beside ReplayNotJudged and
// ReplayLost.
const (
	// DiffSame: it comes out the same.
	DiffSame = "same"
	// DiffChanged: it comes out otherwise.
	DiffChanged = "changed"
	// DiffUnseen: the policies want to see something of the node that is not on record.
	DiffUnseen = "unseen"
	// DiffNotConcerned: the policies do not judge such pods.
	DiffNotConcerned = "notConcerned"
)

// ErrRefused is that policies would not be taken.
var ErrRefused = errors.New("the policies would be refused")

// Differing is what came of making one decision with other policies.
type Differing struct {
	Replayed

	// Recorded and Made are the verdict on record, and the other one where Outcome is
	// DiffChanged.
	Recorded, Made *api.Verdict
}

// DiffOptions say with what decisions are made anew.
type DiffOptions struct {
	// Dir has the policies, Tenant is whose place they take, empty for the operator's.
	Dir, Tenant string
}

// DiffDecisions makes the decisions that are on record in files, which hold a state
// directory, with the policies of a directory instead of those of their owner, and
// tells each what came of one. A signature is not asked for. damaged says where the
// records are not whole. The error is ErrRefused, with every reason, or says what
// cannot be read.
func DiffDecisions(ctx context.Context, cfg *config.Config, files fs.FS, o DiffOptions, each func(*Differing)) (damaged []error, err error) {
	err = withReplayer(cfg, false, func(again *Replayer) error {
		return withSandbox(cfg, false, func(loader eval.Loader) error {
			x := differ{cfg, loader, again, o, map[string]*WhatIf{}}
			defer x.release()
			var err error
			damaged, err = decisions.NewArchive(files).Each(func(r *decisions.Record, e *decisions.Exhibits) error {
				with, err := x.on(ctx, r.Node)
				if err != nil {
					return fmt.Errorf("%w:\n%w", ErrRefused, err)
				}
				d, err := differing(ctx, with, r, e)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err == nil {
					each(d)
				}
				return err
			})
			return err
		})
	})
	return damaged, err
}

// differ loads the policies of a directory, for each node that has decided something.
type differ struct {
	cfg     *config.Config
	loader  eval.Loader
	again   *Replayer
	options DiffOptions
	with    map[string]*WhatIf
}

// on returns the policies as they are on a node.
func (d *differ) on(ctx context.Context, node string) (*WhatIf, error) {
	if x := d.with[node]; x != nil {
		return x, nil
	}
	o, err := parts.PolicySet(d.cfg, node, d.loader, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	o.Dir, o.Trust, o.AllowUnpinned, o.Tenant = d.options.Dir, bundle.Trust{}, true, d.options.Tenant
	x, err := d.again.WhatIf(ctx, o)
	if err == nil {
		d.with[node] = x
	}
	return x, err
}

func (d *differ) release() {
	for _, x := range d.with {
		x.Release()
	}
}

// differing makes one decision with other policies. The error is decisions.ErrMadeRoom.
func differing(ctx context.Context, with *WhatIf, r *decisions.Record, of Artifacts) (*Differing, error) {
	d := &Differing{Replayed: *replayedOf(r), Recorded: &r.Verdict}
	v, difference, err := with.Decide(ctx, r, of)
	switch {
	case errors.Is(err, decisions.ErrMadeRoom):
		return nil, err
	case errors.Is(err, ErrNotJudged):
		d.Outcome = ReplayNotJudged
	case errors.Is(err, ErrNotConcerned):
		d.Outcome = DiffNotConcerned
	case errors.Is(err, ErrUnseen):
		d.Outcome = DiffUnseen
	case err != nil:
		d.Outcome, d.Error = ReplayLost, err.Error()
	case difference != nil:
		d.Outcome, d.Difference, d.Made = DiffChanged, difference, &v
	default:
		d.Outcome = DiffSame
	}
	return d, nil
}
