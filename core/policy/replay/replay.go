package replay

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// The outcomes of repeating a decision.
const (
	// ReplaySame: the verdict is the same as the one on record, to the last bit.
	ReplaySame = "same"
	// ReplayDifferent: the verdict is another one.
	ReplayDifferent = "different"
	// ReplayNotJudged: there is nothing to repeat, because no policy was asked.
	ReplayNotJudged = "notJudged"
	// ReplayLost: the decision cannot be repeated, because an artifact of it is missing or
	// damaged.
	ReplayLost = "lost"
)

// RecordFiles are files with decisions on record: the files of a state directory or of a
// bundle.
type RecordFiles = decisions.RecordFiles

// StateFiles returns the files of a state directory.
func StateFiles(dir string) *RecordFiles { return decisions.FilesOf(dir) }

// BundleFiles returns the files of a bundle that ExportDecisions wrote.
func BundleFiles(files fs.FS) *RecordFiles { return decisions.BundleFiles(files) }

// Replayed is the result of repeating one decision.
type Replayed struct {
	ID        string `json:"id"`
	Hook      string `json:"hook"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Outcome   string `json:"outcome"`
	// Difference is the first difference. Error says why the decision cannot be repeated.
	Difference *Difference `json:"difference,omitempty"`
	Error      string      `json:"error,omitempty"`
}

// Options say how decisions are repeated, and which ones: all if there are no IDs.
type Options struct {
	Interpreter bool
	IDs         []string
}

// Decisions repeats the decisions on record in files, which are RecordFiles, and calls each
// with the result of each decision. It works in this process, without an agent, and uses
// only what is on record. damaged says where the records are not whole.
func Decisions(ctx context.Context, cfg *config.Config, files fs.FS, o Options, each func(*Replayed)) (damaged []error, err error) {
	err = withReplayer(cfg, o.Interpreter, func(again *Replayer) error {
		var err error
		damaged, err = decisions.NewArchive(files).Each(func(r *decisions.Record, e *decisions.Exhibits) error {
			if len(o.IDs) > 0 && !slices.Contains(o.IDs, r.ID) {
				return nil
			}
			x, err := replay(ctx, again, r, e)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				each(x)
			}
			return err
		})
		return err
	})
	return damaged, err
}

// withSandbox calls do with a new sandbox.
func withSandbox(cfg *config.Config, interpreter bool, do func(eval.Loader) error) error {
	var options []wasm.EngineOption
	if interpreter {
		options = append(options, wasm.WithInterpreter())
	}
	return parts.WithEngine(cfg, func(engine *wasm.Engine) error { return do(eval.Sandbox(engine)) }, options...)
}

// replay repeats one decision. The error is decisions.ErrMadeRoom.
func replay(ctx context.Context, again *Replayer, r *decisions.Record, of Artifacts) (*Replayed, error) {
	x := replayedOf(r)
	v, err := again.Replay(ctx, r, of)
	if err == nil {
		x.Difference, err = Compare(r, v)
	}
	switch {
	case errors.Is(err, decisions.ErrMadeRoom):
		return nil, err
	case errors.Is(err, ErrNotJudged):
		x.Outcome = ReplayNotJudged
	case err != nil:
		x.Outcome, x.Error = ReplayLost, err.Error()
	case x.Difference != nil:
		x.Outcome = ReplayDifferent
	default:
		x.Outcome = ReplaySame
	}
	return x, nil
}

func replayedOf(r *decisions.Record) *Replayed {
	return &Replayed{ID: r.ID, Hook: r.Hook, Namespace: r.Namespace, Name: r.Name}
}
