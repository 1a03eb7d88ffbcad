package agent

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// wired is the installation and the node's name of an agent of the site that
// was only wired, and whether it takes what runs as admitted.
func (n *site) wired(t *testing.T) (installation, name string, lost bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		a, err := New(n.cfg, Options{Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			defer a.close()
			return a.state.Installation(), a.node, a.state.Lost()
		}
		// A process that another test starts holds a lock for a moment.
		if !strings.Contains(err.Error(), "another agent uses it") || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestAnAgentWhoseStateIsRemovedKnowsWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.source(t, "static", nil)
	installation, name, lost := n.wired(t)
	if lost {
		t.Error("a first start has lost something")
	}
	if err := os.RemoveAll(n.cfg.Paths.StateRoot); err != nil {
		t.Fatal(err)
	}
	n.cfg.NodeName = ""
	if now, called, lost := n.wired(t); now != installation || called != name || !lost {
		t.Errorf("installation %s of node %s, lost %v; it was %s of node %s", now, called, lost, installation, name)
	}
}
