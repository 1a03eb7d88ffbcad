package author

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/wasm/pluginlog"
)

// draftNode is the node's name for policies that are tried without an agent. It is always
// the same, so that results are the same on every machine.
const draftNode = "node"

// TestedPolicies says what was tested.
type TestedPolicies struct {
	// Policies are the names of the policies that were loaded. Untested are the documents
	// that have no [[test]].
	Policies, Untested []string
	// Unpinned are the documents whose sha256 is not the digest of the module.
	Unpinned []string
	// Strays are golden files that belong to no test.
	Strays []string
}

// TestPolicies runs the tests of the policies in a directory, or of a document, as an agent
// of this configuration would, and calls each with the result of each test. It also tests
// policies that are off, and modules whose digest is missing or another one. The error says
// why there is nothing to test.
func TestPolicies(ctx context.Context, cfg *config.Config, path string, o TestOptions, each func(*TestResult)) (TestedPolicies, error) {
	var tested TestedPolicies
	err := withDrafts(ctx, cfg, path, draftNode, func(drafts []*Draft, log *pluginLines) error {
		for _, d := range drafts {
			tested.Policies = append(tested.Policies, d.Name)
			if d.Err == nil && len(d.Tests()) == 0 {
				tested.Untested = append(tested.Untested, d.Document)
			}
			if d.Module != "" && d.Module != d.Pinned {
				tested.Unpinned = append(tested.Unpinned, d.Document)
			}
			tested.Strays = append(tested.Strays, Strays(d)...)
			log.take()
			err := Test(ctx, d, o, func(r *TestResult) {
				r.Log = log.take()
				each(r)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return tested, err
}

// withDrafts calls do with the policies of a directory, or with the policy of a document,
// in a new sandbox.
func withDrafts(ctx context.Context, cfg *config.Config, path, node string, do func([]*Draft, *pluginLines) error) error {
	dir, document := path, ""
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		dir, document = filepath.Split(path)
		dir = filepath.Clean(dir)
	}
	temp, err := os.MkdirTemp("", "wardlet-draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	log := &pluginLines{}
	engine, err := parts.Engine(temp, &cfg.Policy, slog.New(log))
	if err != nil {
		return err
	}
	drafts, err := Drafts(ctx, rollout.Options{
		Options: bundle.Options{Dir: dir, ModuleBytes: cfg.Policy.ModuleBytes}, Node: node, Loader: eval.Sandbox(engine), Logger: slog.New(slog.DiscardHandler),
	}, document)
	if err == nil {
		err = do(drafts, log)
	}
	for _, d := range drafts {
		d.Close()
	}
	return errors.Join(err, engine.Close())
}

// pluginLines is a log handler that keeps the lines that plugins log.
type pluginLines struct {
	mu    sync.Mutex
	lines []string
}

// Enabled implements slog.Handler.
func (*pluginLines) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (l *pluginLines) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *pluginLines) WithGroup(string) slog.Handler { return l }

// Handle implements slog.Handler.
func (l *pluginLines) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == pluginlog.Text {
			l.mu.Lock()
			l.lines = append(l.lines, r.Level.String()+": "+a.Value.String())
			l.mu.Unlock()
		}
		return true
	})
	return nil
}

// take returns the lines since its last call.
func (l *pluginLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := slices.Clip(l.lines)
	l.lines = nil
	return lines
}
