package policy

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestDecisionsOnRecordAreShownAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("a", "deny No: never")
	start := func() (*Engine, func()) {
		log, closeAll := policytest.RecordsIn(t, path)
		c := testConfig(d, s)
		c.Records = log
		p := New(c)
		stop := run(t, p)
		return p, func() { stop(); closeAll() }
	}
	p, stop := start()
	for range 3 {
		ask(t, p, policytest.Question("web"))
	}
	ask(t, p, policytest.Question("db"))
	want := p.Decisions()
	if len(want) != 2 || want[0].Count != 3 || want[0].ID != "operator-1" || want[1].ID != "operator-2" {
		t.Fatalf("decisions %+v", want)
	}
	stop()
	p, stop = start()
	// The recorded verdict is the first one.
	got := p.Decisions()
	for deadline := time.Now().Add(10 * time.Second); len(got) < 2 && time.Now().Before(deadline); got = p.Decisions() {
		time.Sleep(time.Millisecond)
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Verdict.At" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	ask(t, p, policytest.Question("db"))
	if got := p.Decisions(); len(got) != 2 || got[1].Name != "db" || got[1].Count != 2 || got[1].ID != "operator-2" {
		t.Errorf("decisions %+v", got)
	}
	stop()
}
