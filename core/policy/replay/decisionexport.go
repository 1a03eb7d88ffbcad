package replay

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// The outcomes of exporting a decision to a bundle.
const (
	// ExportIn: the decision is in the bundle.
	ExportIn = "exported"
	// ExportOtherwise: with redacted documents the decision would be another one, so it is
	// not in the bundle.
	ExportOtherwise = "otherwise"
	// ExportLost: an artifact of the decision is missing or damaged.
	ExportLost = ReplayLost
)

// ExportOptions say which decisions are exported, all if there are no IDs, and whether
// fields that commonly hold secrets are redacted in their documents.
type ExportOptions struct {
	Redact bool
	IDs    []string
}

// ExportDecisions writes decisions on record in files, which hold a state directory, with
// all their artifacts to a zip archive that Decisions reads. It calls each with the result
// of each decision. damaged says where the records are not whole.
func ExportDecisions(ctx context.Context, cfg *config.Config, files fs.FS, to io.Writer, o ExportOptions, each func(*Replayed)) (damaged []error, err error) {
	archive := zip.NewWriter(to)
	bundle := decisions.NewBundle(func(name string) (io.Writer, error) {
		return archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Unix(0, 0).UTC()})
	})
	err = withReplayer(cfg, false, func(again *Replayer) error {
		x := export{again: again, files: map[string]error{}}
		if o.Redact {
			x.redactor = NewRedactor()
		}
		var err error
		damaged, err = decisions.NewArchive(files).Each(func(r *decisions.Record, e *decisions.Exhibits) error {
			if len(o.IDs) > 0 && !slices.Contains(o.IDs, r.ID) {
				return nil
			}
			entry, outcome, err := x.entry(ctx, r, e)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil && entry != nil {
				err = bundle.Add(entry, e.PolicyFile)
			}
			if err == nil {
				each(outcome)
			}
			return err
		})
		return err
	})
	if err == nil {
		err = bundle.Close()
	}
	if err == nil {
		err = archive.Close()
	}
	return damaged, err
}

// export makes entries of a bundle. The redactor is nil if nothing is redacted.
type export struct {
	again    *Replayer
	redactor *Redactor
	// files are the files that were checked, with their faults, by digest.
	files map[string]error
}

// entry returns a record as it is exported, nil if it is not exported, and the outcome. The
// error is decisions.ErrMadeRoom.
func (x *export) entry(ctx context.Context, r *decisions.Record, e *decisions.Exhibits) (*decisions.Entry, *Replayed, error) {
	said := replayedOf(r)
	said.Outcome = ExportIn
	entry, err := e.Entry(r)
	for i := range r.Policies {
		for _, digest := range []string{r.Policies[i].Document, r.Policies[i].Module} {
			if err == nil && digest != "" { // a group has no module
				err = x.whole(digest, e)
			}
		}
	}
	out := &entry
	if err == nil && x.redactor != nil {
		out, said.Difference, err = x.again.Redacted(ctx, r, e, x.redactor)
	}
	switch {
	case errors.Is(err, decisions.ErrMadeRoom):
		return nil, nil, err
	case err != nil:
		said.Outcome, said.Error, out = ExportLost, err.Error(), nil
	case said.Difference != nil:
		said.Outcome = ExportOtherwise
	}
	return out, said, nil
}

// whole returns why a file of a policy cannot be exported, nil if it can.
func (x *export) whole(digest string, e *decisions.Exhibits) error {
	err, known := x.files[digest]
	if !known {
		if _, err = e.PolicyFile(digest); !errors.Is(err, decisions.ErrMadeRoom) {
			x.files[digest] = err
		}
	}
	return err
}

// withReplayer calls do with a Replayer. Modules on record may be as long as any
// configuration allows, because the agent that recorded the decisions accepted them.
func withReplayer(cfg *config.Config, interpreter bool, do func(*Replayer) error) error {
	most := *cfg
	most.Policy.ModuleBytes, most.Policy.CodeBytes = config.MaxModuleBytes, config.MaxModuleBytes
	return withSandbox(&most, interpreter, func(loader eval.Loader) error {
		again := NewReplayer(loader, slog.New(slog.DiscardHandler))
		defer again.Close()
		return do(again)
	})
}
