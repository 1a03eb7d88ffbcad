package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// PolicyRun is the result of a policy for one question.
type PolicyRun struct {
	Policy   string `json:"policy"`
	Document string `json:"document"`
	// Module is the digest of the module that was asked.
	Module  string      `json:"module"`
	Verdict eval.Result `json:"verdict"`
	Limits  Limits      `json:"limits"`
	// Log are the lines that the plugin logged.
	Log []string `json:"log,omitempty"`
	// Unpinned reports that the sha256 of the document is not the digest of the module.
	Unpinned bool `json:"unpinned,omitempty"`
}

// ErrNoDecisions means that the files are no state directory with decisions on record.
var ErrNoDecisions = decisions.ErrNone

// AskPolicy asks the policy of a document a question, in a new sandbox.
func AskPolicy(ctx context.Context, cfg *config.Config, document string, q *Question) (*PolicyRun, error) {
	return askDraft(ctx, cfg, document, draftNode, func(d *Draft) (eval.Result, error) { return d.Ask(ctx, q) })
}

// errAsked stops the search for a record.
var errAsked = errors.New("asked")

// AskPolicyAgain asks the policy of a document the question of a decision on record. The
// record is in files, which hold a state directory.
func AskPolicyAgain(ctx context.Context, cfg *config.Config, document string, files fs.FS, id string) (run *PolicyRun, err error) {
	damaged, err := decisions.NewArchive(files).Each(func(r *decisions.Record, e *decisions.Exhibits) error {
		if r.ID != id {
			return nil
		}
		run, err = askDraft(ctx, cfg, document, r.Node, func(d *Draft) (eval.Result, error) { return d.AskAgain(ctx, r, e) })
		if err == nil {
			err = errAsked
		}
		return err
	})
	switch {
	case errors.Is(err, errAsked):
		return run, nil
	case err != nil:
		return nil, err
	}
	err = fmt.Errorf("the decision %s is not on record; wardlet get decisions -o wide shows the numbers", id)
	return nil, errors.Join(append([]error{err}, damaged...)...)
}

// askDraft calls ask with the policy of a document, and returns the result.
func askDraft(ctx context.Context, cfg *config.Config, document, node string, ask func(*Draft) (eval.Result, error)) (run *PolicyRun, err error) {
	err = withDrafts(ctx, cfg, document, node, func(drafts []*Draft, log *pluginLines) error {
		if len(drafts) != 1 {
			return fmt.Errorf("%s has %d policies: name the document of one", document, len(drafts))
		}
		d := drafts[0]
		if d.Err != nil {
			return d.Err
		}
		log.take()
		s, err := ask(d)
		if err != nil {
			return err
		}
		run = &PolicyRun{Policy: d.Name, Document: d.Document, Module: d.Module, Verdict: s, Limits: d.Limits(), Log: log.take(), Unpinned: d.Module != d.Pinned}
		return nil
	})
	return run, err
}
