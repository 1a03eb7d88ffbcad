package agent

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/site"
)

// wired opens an agent of the site without running it. It returns the installation, the node's
// name, and whether documents of an earlier process were lost.
func wired(t *testing.T, n *site.Site) (installation, name string, lost bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			defer a.close()
			return a.state.Installation(), a.node, a.state.Lost()
		}
		// A process that another test starts may hold the lock for a moment.
		if !strings.Contains(err.Error(), "another agent uses it") || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestAnAgentWhoseStateIsRemovedKnowsWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	n.Source(t, "static", nil)
	installation, name, lost := wired(t, n)
	if lost {
		t.Error("a first start has lost something")
	}
	if err := os.RemoveAll(n.Cfg.Paths.StateRoot); err != nil {
		t.Fatal(err)
	}
	n.Cfg.NodeName = ""
	if now, called, lost := wired(t, n); now != installation || called != name || !lost {
		t.Errorf("installation %s of node %s, lost %v; it was %s of node %s", now, called, lost, installation, name)
	}
}
