package abi

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// notebook keeps the lines that plugins log, by their policy.
type notebook struct {
	mu    sync.Mutex
	lines map[string][]line
}

// take returns the lines of a policy and forgets them.
func (n *notebook) take(policy string) []line {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.lines[policy]
	delete(n.lines, policy)
	return taken
}

func (n *notebook) add(policy string, l line) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.lines[policy]
	if last := len(all) - 1; last >= 0 && all[last].Level == l.Level && all[last].Text == l.Text {
		all[last].Times = max(all[last].Times, 1) + 1
		return
	}
	n.lines[policy] = append(all, l)
}

// scribe is the log handler of an engine; it writes into a notebook.
type scribe struct {
	book   *notebook
	least  slog.Level
	policy string
}

func (s *scribe) Enabled(_ context.Context, level slog.Level) bool { return level >= s.least }

func (s *scribe) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "text" {
			s.book.add(s.policy, line{Level: strings.ToLower(r.Level.String()), Text: text(a.Value.String())})
		}
		return true
	})
	return nil
}

func (s *scribe) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *s
	for _, a := range attrs {
		if a.Key == "policy" {
			with.policy = a.Value.String()
		}
	}
	return &with
}

func (s *scribe) WithGroup(string) slog.Handler { return s }
