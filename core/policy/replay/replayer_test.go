package replay

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state/decisions"
)

func TestReplayer_keepsOnlySoManyPoliciesLoaded(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	again := NewReplayer(scripted{s}, nil)
	e := contents{}
	for i := range MaxLoaded + 3 {
		again.decision++
		record := &decisions.PolicyRecord{Name: "p", Document: e.add(policytest.DocumentOf("p", "allow", "# "+strings.Repeat("x", i))), Module: e.add("allow")}
		if _, err := again.policy(t.Context(), record, "node-1", e); err != nil {
			t.Fatal(err)
		}
		again.makeRoom()
	}
	if n := len(s.InUse()); n != MaxLoaded {
		t.Errorf("%d are loaded", n)
	}
	again.Close()
	if n := len(s.InUse()); n != 0 {
		t.Errorf("%d are loaded after it was closed", n)
	}
}

// contents has artifacts by digest.
type contents map[string]string

func (c contents) add(text string) string {
	c[policytest.SumOf(text)] = text
	return policytest.SumOf(text)
}

func (c contents) Input(digest string) ([]byte, error)      { return []byte(c[digest]), nil }
func (c contents) PolicyFile(digest string) ([]byte, error) { return []byte(c[digest]), nil }

func TestReplayer_doesNotAwaitAPluginThatWasClosed(t *testing.T) {
	t.Parallel()
	dir, _ := decidedWith(t, scripted{policytest.NewScripts()}, 0, []byte("allow"))
	s := policytest.NewScripts()
	again := NewReplayer(scripted{s}, slog.New(slog.DiscardHandler))
	damaged, err := decisions.NewArchive(os.DirFS(dir)).Each(func(r *decisions.Record, e *decisions.Exhibits) error {
		if _, err := again.Replay(t.Context(), r, e); err != nil {
			return err
		}
		for _, p := range again.loaded {
			p.Plugin.Release()
		}
		before := len(s.Calls())
		if _, err := again.Replay(t.Context(), r, e); err == nil || !strings.Contains(err.Error(), "its plugin was closed meanwhile") {
			t.Errorf("%v", err)
		}
		if n := len(s.Calls()) - before; n > 1 {
			t.Errorf("it was asked %d times", n)
		}
		return nil
	})
	policytest.Must(t, errors.Join(append(damaged, err)...))
}
