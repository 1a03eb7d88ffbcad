package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
)

func TestAGroupThatDeniesAsAPluginFailedSaysSo(t *testing.T) {
	t.Parallel()
	const fails, denies = "trap unreachable\non_error = \"deny\"", "deny No no"
	// A denial that only a failure causes must never evict a running pod.
	for name, test := range map[string]struct {
		expression string
		members    []string
		evicts     bool
	}{
		"it alone":                       {"m0", []string{fails}, false},
		"another could have been enough": {"m0 || m1", []string{fails, denies}, false},
		"whatever it would have said":    {"m0 && m1", []string{fails, denies}, true},
		"it is turned around":            {"!m0", []string{"trap unreachable\non_error = \"allow\""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			for i, text := range test.members {
				script, more, _ := strings.Cut(text, "\n")
				d.Policy(fmt.Sprintf("m%d", i), script, `mode = "member"`, more)
			}
			d.Group("group", test.expression)
			loaded, err := loadSet(t, d, policytest.NewScripts())
			policytest.Must(t, err)
			t.Cleanup(loaded.Release)
			v := eval.Judge(t.Context(), []*eval.Set{loaded}, decisionOn(policytest.Question("web")), api.Allow)
			if o := v.Opinions[len(v.Opinions)-1]; v.Answer != api.Deny || (o.Answer == api.Deny && o.Failure == "") != test.evicts {
				t.Errorf("verdict %+v, want a denial that evicts: %t", v, test.evicts)
			}
			if o := v.Opinions[len(v.Opinions)-1]; !test.evicts && (o.Failure != api.FailureOfMember || o.Reason != api.ReasonPolicyFailed) {
				t.Errorf("opinion %+v", o)
			}
		})
	}
}

func TestADecisionOfAGroupCanBeMadeAgainFromItsRecordAlone(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("m", "deny No not signed", `mode = "member"`)
	d.Policy("n", "trap boom", `mode = "member"`, `on_error = "deny"`)
	d.Policy("o", "allow", `mode = "member"`, "[match]\nnamespaces = [\"other\"]")
	d.Group("g", "m || n || o", `message = "sign it"`)
	at := filepath.Join(t.TempDir(), "state")
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records = log
	p := New(c)
	stop := run(t, p)
	v := ask(t, p, policytest.Question("web"))
	stop()
	closeAll()
	if v.Policy != "g" || v.Answer != api.Deny || len(v.Opinions) != 3 || v.Opinions[0].Mode != api.ModeMember {
		t.Fatalf("verdict %+v", v)
	}
	for _, name := range []string{"m.toml", "n.toml", "o.toml", "g.toml"} {
		d.Remove(name)
	}
	records, exhibits := evidenceIn(t, at)
	again := replay.NewReplayer(c.Loader, c.Logger)
	defer again.Close()
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	if diff := repeated(t, again, records[0], exhibits[0]); diff != nil {
		t.Error(diff)
	}
}

func TestAGroupEvictsAsAPolicyDoes(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n, kept := newRunning(somePods(30)...), newCounts()
		d.Policy("m", "allow", `mode = "member"`)
		d.Group("g", "m", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		time.Sleep(time.Minute)
		d.Policy("m", "deny No nobody", `mode = "member"`)
		settled()
		if gone := n.gone(); len(gone) != 3 {
			t.Errorf("evicted %v", gone)
		}
		expectPace(t, n)
		if got, want := n.shows("p29"), `policy "g": PolicyDenied: m says deny (No: nobody); 3 of 30 pods were evicted, this one waits for "wardlet policy confirm g"`; got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
		_, err := p.Confirm(t.Context(), "", "g", "")
		policytest.Must(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		confirmed := len(n.gone())
		if confirmed < 6 {
			t.Errorf("confirmed, and %d are gone", confirmed)
		}
		// The confirmation was for the old members only.
		d.Policy("m", "deny No nobody # other", `mode = "member"`)
		settled()
		if more := len(n.gone()) - confirmed; more > 3+1 {
			t.Errorf("another member, and %d more are gone at once", more)
		}
	})
}
