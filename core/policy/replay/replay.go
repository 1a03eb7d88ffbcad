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

// The outcomes of making a decision again.
const (
	// ReplaySame: the verdict is that on record, to the last bit.
	ReplaySame = "same"
	// ReplayDifferent: it is another one.
	ReplayDifferent = "different"
	// ReplayNotJudged: there is nothing to repeat, as no policy was asked.
	ReplayNotJudged = "notJudged"
	// ReplayLost: it cannot be made again, as something that it depended on is
	// missing or damaged.
	ReplayLost = "lost"
)

// RecordFiles are files with decisions on record: those of a state directory or of a
// bundle.
type RecordFiles = decisions.RecordFiles

// StateFiles are the files of a state directory.
func StateFiles(dir string) *RecordFiles { return decisions.FilesOf(dir) }

// BundleFiles are the files of a bundle that ExportDecisions wrote.
func BundleFiles(files fs.FS) *RecordFiles { return decisions.BundleFiles(files) }

// Replayed is what came of making one decision again.
type Replayed struct {
	ID        string `json:"id"`
	Hook      string `json:"hook"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Outcome   string `json:"outcome"`
	// Difference is the first one, Error why the decision cannot be made again.
	Difference *Difference `json:"difference,omitempty"`
	Error      string      `json:"error,omitempty"`
}

// Options say how decisions are made again, and which: all without IDs.
type Options struct {
	Interpreter bool
	IDs         []string
}

// Decisions makes the decisions again that are on record in files, which are
// RecordFiles, and tells each what came of one: in this process, without an
// agent, with nothing but what is on record. damaged says where the records are not whole.
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

// withSandbox does something with a sandbox of its own.
func withSandbox(cfg *config.Config, interpreter bool, do func(eval.Loader) error) error {
	var options []wasm.EngineOption
	if interpreter {
		options = append(options, wasm.WithInterpreter())
	}
	return parts.WithEngine(cfg, func(engine *wasm.Engine) error { return do(eval.Sandbox(engine)) }, options...)
}

// replay makes one decision again. The error is decisions.ErrMadeRoom.
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
