package policy

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// redactedOf lets every hook decide about pods with a secret, and returns the redacted
// records and the differences when they are replayed.
func redactedOf(t *testing.T, script, more string, do func(p *Engine, d policytest.Tree)) (all []*decisions.Entry, left []*replay.Difference) {
	t.Helper()
	at, d, s := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
	d.Write("p.toml", policytest.DocumentIn("p", script, more))
	d.Write("p.wasm", script)
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records, c.Sources = log, []string{"cluster", "static"}
	c.Facts = &Node{Pods: func() []NodePod {
		return []NodePod{{policytest.SomePod("other", func(p *v1.Pod) { p.UID = policytest.Secret }), "static"}}
	}, Wanted: func(types.UID, string) bool { return true }}
	p := New(c)
	stop := run(t, p)
	do(p, d)
	stop()
	closeAll()
	again, x := replay.NewReplayer(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler)), replay.NewRedactor()
	defer again.Close()
	records, exhibits := evidenceIn(t, at)
	for i, r := range records {
		e, diff, err := again.Redacted(t.Context(), r, exhibits[i], x)
		policytest.Must(t, err)
		if diff != nil {
			left = append(left, diff)
			continue
		}
		if diff := repeated(t, again, e.Record, overlaid{exhibits[i], e.Inputs}); diff != nil {
			t.Errorf("%s of %s comes out otherwise where it is made again: %v", r.Hook, r.Name, diff)
		}
		all = append(all, e)
	}
	return all, left
}

func TestARedactedRecordTellsNoSecretAndCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	hide := func(q *api.Question) { policytest.Secretive("env")(q.Pod) }
	for name, test := range map[string]struct {
		script, more string
		do           func(t *testing.T, p *Engine, d policytest.Tree)
		want         int
	}{
		"of every hook": {"deny No never", anyHook, func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); everyHook(t, p, "web") }, 3},
		"a plugin that says all it knows": {"say-env", "", func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			ask(t, p, policytest.Question("web", hide))
		}, 1},
		"of one that sees the node": {"quota 1", "capabilities = [\"node.read\"]", func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			ask(t, p, policytest.Question("web", hide))
		}, 1},
		"what it had said before": {"say-env", "on_error = \"last_verdict\"", func(t *testing.T, p *Engine, d policytest.Tree) {
			t.Helper()
			ask(t, p, policytest.Question("web", hide))
			d.Policy("p", "trap no", "on_error = \"last_verdict\"")
			_, err := p.Reload(t.Context(), "")
			policytest.Must(t, err)
			ask(t, p, policytest.Question("web", hide))
		}, 2},
		"documents that are from a URL": {"winner 1", anyHook, func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			url := func(of string) string {
				return "https://ana:" + policytest.Secret + "@config.example/" + of + "?token=" + policytest.Secret + "#0"
			}
			ask(t, p, policytest.Question("web", func(q *api.Question) { q.Origin.Document = url("web.yaml") }))
			c := contested("web")
			c.Candidates[0].Origin.Document, c.Candidates[1].Origin.Document = url("a"), url("b")
			resolved := make(chan api.Resolution, 1)
			p.Rules().Resolve(c, func(r api.Resolution) { resolved <- r })
			<-resolved
		}, 2},
		"one that is put off": {"deny No never", "", func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			for _, name := range []string{"one", "two"} {
				ask(t, p, ofController(name, "set", hide, func(q *api.Question) { q.Origin.Source = "cluster" }))
			}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, left := redactedOf(t, test.script, test.more, func(p *Engine, d policytest.Tree) { test.do(t, p, d) })
			if len(all) != test.want || len(left) > 0 {
				t.Errorf("%d are redacted, %v are left out", len(all), left)
			}
			for _, e := range all {
				text, err := json.Marshal(e.Record)
				policytest.Must(t, err)
				for _, input := range e.Inputs {
					text = append(text, input...)
				}
				if strings.Contains(string(text), policytest.Secret) || !e.Record.Redacted {
					t.Errorf("it tells the secret: %s", text)
				}
			}
		})
	}
}

func TestADecisionThatASecretHasMadeIsNotRedacted(t *testing.T) {
	t.Parallel()
	all, left := redactedOf(t, "deny-env "+policytest.Secret, "", func(p *Engine, _ policytest.Tree) {
		ask(t, p, policytest.Question("web", func(q *api.Question) { policytest.Secretive("env")(q.Pod) }))
	})
	if len(all) != 0 || len(left) != 1 || left[0].Field != "answer" {
		t.Errorf("%d are redacted, left out %v", len(all), left)
	}
}

// overlaid are artifacts some inputs of which are replaced.
type overlaid struct {
	replay.Artifacts
	inputs map[string][]byte
}

func (o overlaid) Input(digest string) ([]byte, error) {
	if text := o.inputs[digest]; text != nil {
		return text, nil
	}
	return o.Artifacts.Input(digest)
}
