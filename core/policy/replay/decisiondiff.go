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

// The outcomes of repeating a decision with other policies, beside ReplayNotJudged and
// ReplayLost.
const (
	// DiffSame: the decision is the same.
	DiffSame = "same"
	// DiffChanged: the decision is another one.
	DiffChanged = "changed"
	// DiffUnseen: the policies read something that is not on record.
	DiffUnseen = "unseen"
	// DiffNotConcerned: the policies do not judge such pods.
	DiffNotConcerned = "notConcerned"
)

// ErrRefused means that the policies would be refused.
var ErrRefused = errors.New("the policies would be refused")

// Differing is the result of repeating one decision with other policies.
type Differing struct {
	Replayed

	// Recorded is the verdict on record. Made is the other verdict if Outcome is
	// DiffChanged, else nil.
	Recorded, Made *api.Verdict
}

// DiffOptions say with which policies decisions are repeated.
type DiffOptions struct {
	// Dir is the directory of the policies. They replace the policies of Tenant, or of the
	// operator if it is empty.
	Dir, Tenant string
}

// DiffDecisions repeats the decisions on record in files, which hold a state directory,
// with the policies of a directory instead of those of their owner. It calls each with the
// result of each decision. No signature is required. damaged says where the records are not
// whole. The error is ErrRefused, with every reason, or says what cannot be read.
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

// on returns the policies loaded for a node.
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

// differing repeats one decision with other policies. The error is decisions.ErrMadeRoom.
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
