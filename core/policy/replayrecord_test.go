package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/state/decisions"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// evidenceIn returns the records of a state directory, the oldest first, each with the
// artifacts it names.
func evidenceIn(t *testing.T, path string) (records []*decisions.Record, exhibits []replay.Artifacts) {
	t.Helper()
	damaged, err := decisions.NewArchive(os.DirFS(path)).Each(func(r *decisions.Record, e *decisions.Exhibits) error {
		records, exhibits = append(records, r), append(exhibits, e)
		return nil
	})
	policytest.Must(t, errors.Join(append(damaged, err)...))
	return records, exhibits
}

// altered are artifacts whose pod documents are changed.
type altered struct {
	replay.Artifacts
	change func(*v1.Pod)
}

func (a altered) Input(digest string) ([]byte, error) {
	text, err := a.Artifacts.Input(digest)
	if err != nil || !bytes.Contains(text, []byte(`"kind":"Pod"`)) {
		return text, err
	}
	p := &v1.Pod{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, err
	}
	a.change(p)
	return json.Marshal(p)
}

// otherReferences are artifacts in which the references of one document have other digests.
type otherReferences struct {
	replay.Artifacts
	document string
}

func (o otherReferences) Input(digest string) ([]byte, error) {
	text, err := o.Artifacts.Input(digest)
	if digest == o.document {
		text = bytes.ReplaceAll(text, []byte("sha256:1"), []byte("sha256:2"))
	}
	return text, err
}

// repeated replays the decision of a record and returns the first difference, or nil.
func repeated(t *testing.T, r *replay.Replayer, record *decisions.Record, of replay.Artifacts) *replay.Difference {
	t.Helper()
	v, err := r.Replay(t.Context(), record, of)
	policytest.Must(t, err)
	d, err := replay.Compare(record, v)
	policytest.Must(t, err)
	return d
}

func TestADecisionCanBeMadeAgainFromItsRecordAlone(t *testing.T) { //nolint:tparallel // its parts share what is closed after them
	t.Parallel()
	d := policytest.NewTree(t)
	const both = `capabilities = ["node.read", "references.read"]` + "\n[settings]\nlist = [1, \"two\"]"
	d.Write("p.wasm", string(wasmtest.Drawing()))
	for _, hook := range []string{api.HookAdmit, api.HookFilter, api.HookMerge} {
		d.Write(hook+".toml", "api = \"wardlet.dev/v1\"\nname = \""+hook+"\"\nmodule = \"p.wasm\"\nsha256 = \""+policytest.SumOf(string(wasmtest.Drawing()))+"\"\nhooks = [\""+hook+"\"]\n"+both)
	}
	at := filepath.Join(t.TempDir(), "state")
	log, closeAll := policytest.RecordsIn(t, at)
	c := sandboxed(t, d)
	c.Records, c.Sources = log, []string{"cluster", "static"}
	c.Tenants = []Tenant{{Name: "a", Owns: func(ns string) bool { return ns == "shop" }, FuelPerSecond: 1 << 40}}
	c.Facts = &Node{
		Is: func() (labels, allocatable map[string]string) {
			return map[string]string{"zone": "1"}, map[string]string{"cpu": "4"}
		},
		Pods:   func() []NodePod { return []NodePod{{policytest.SomePod("other"), "static"}} },
		Wanted: func(types.UID, string) bool { return true },
	}
	c.References = newReferences(map[string]string{"app": "sha256:1"})
	p := New(c)
	stop := run(t, p)
	newer := func(q *api.Question) {
		q.Op, q.Old = api.UpdateOp, policytest.SomePod("web")
		q.Pod = policytest.SomePod("web", func(p *v1.Pod) {
			p.Spec.Containers[0].Image = "<other>"
			p.Status.Phase = v1.PodRunning
			p.Annotations["note"] = "a\u2028\"b\n"
			naming("app", "none")(p)
		})
	}
	ask(t, p, policytest.Question("web", newer))
	q := policytest.Question("web", newer)
	passed := make(chan api.FilterVerdict, 1)
	p.Filter(api.FilterQuestion{Op: q.Op, Pod: q.Pod, Old: q.Old, Origin: q.Origin}, func(v api.FilterVerdict) { passed <- v })
	<-passed
	resolved := make(chan api.Resolution, 1)
	p.Rules().Resolve(api.Contest{Identity: types.NamespacedName{Namespace: "shop", Name: "web"}, Candidates: []api.Candidate{
		{Pod: policytest.SomePod("web"), Origin: api.Origin{Source: "static", Document: "a#0", FirstSeen: policytest.Instant}, Running: policytest.SomePod("web")},
		{Pod: q.Pod, Origin: api.Origin{Source: "cluster", Document: "b#0", FirstSeen: policytest.Instant.Add(1e6)}, Restored: true},
	}}, func(r api.Resolution) { resolved <- r })
	<-resolved
	stop()

	closeAll()

	records, exhibits := evidenceIn(t, at)
	if len(records) != 3 {
		t.Fatalf("%d records: %+v", len(records), records)
	}
	again := replay.NewReplayer(c.Loader, c.Logger)
	defer again.Close()
	for i, r := range records {
		t.Run(r.Hook, func(t *testing.T) {
			said := r.Verdict.Opinions
			if len(said) != 1 || said[0].Message == "" || said[0].Failure != "" || said[0].Fuel == 0 {
				t.Fatalf("opinions %+v", said)
			}
			if d := repeated(t, again, r, exhibits[i]); d != nil {
				t.Error(d)
			}
			other := altered{exhibits[i], func(p *v1.Pod) { p.Annotations["note"] = "b" }}
			if d := repeated(t, again, r, other); d == nil || d.Field != "message" && d.Field != "opinions[0].message" {
				t.Errorf("another document gives the same random numbers, so this test says nothing: %v", d)
			}
			if r.Hook != api.HookMerge {
				changed := otherReferences{exhibits[i], r.References}
				if d := repeated(t, again, r, changed); d == nil || d.Field != "message" && d.Field != "opinions[0].message" {
					t.Errorf("another digest gives the same random numbers, so this test says nothing: %v", d)
				}
			}
			late := *r
			late.Verdict.At = r.Verdict.At.Add(time.Millisecond)
			if d := repeated(t, again, &late, exhibits[i]); d == nil || d.Field != "message" && d.Field != "opinions[0].message" {
				t.Errorf("another time gives the same random numbers, so this test says nothing: %v", d)
			}
		})
	}
}

func TestARecordHoldsWhetherPodsOfAnAPIServerCouldBeChanged(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.Patching(map[string]string{"labels": policytest.ToLabel("a", "b")})
	d.Policy("labels", "allow", policytest.LabelsPath, "[match]\nnamespaces = [\"shop\"]")
	d.Policy("other", "allow")
	at := filepath.Join(t.TempDir(), "state")
	changed, plain := policytest.FileQuestion(t, policytest.OfAPI(t)), policytest.FileQuestion(t, in("elsewhere"), policytest.OfAPI(t))
	plain.Pod.UID = "uid-plain"
	for _, mutateAPI := range []bool{true, false, true} { // restarts the agent with another configuration
		log, closeAll := policytest.RecordsIn(t, at)
		c := testConfig(d, s)
		c.Records, c.MutateAPI = log, mutateAPI
		p := New(c)
		stop := run(t, p)
		if v := ask(t, p, changed); (v.Answer == api.Allow) != mutateAPI || (v.Mutation != nil) != mutateAPI {
			t.Errorf("mutate_api %v: verdict %+v", mutateAPI, v)
		}
		ask(t, p, plain)
		stop()
		closeAll()
	}

	log, closeAll := policytest.RecordsIn(t, at)
	counted, err := log.Newest(10)
	policytest.Must(t, err)
	closeAll()
	records, exhibits := evidenceIn(t, at)
	config := testConfig(d, s)
	again := replay.NewReplayer(config.Loader, config.Logger)
	defer again.Close()
	var got []string
	for i, r := range records {
		r.Count = counted[slices.IndexFunc(counted, func(c decisions.Record) bool { return c.ID == r.ID })].Count
		got = append(got, fmt.Sprintf("%s/%s %s ×%d, mutate_api %v", r.Namespace, r.Name, r.Verdict.Answer, r.Count, r.MutateAPI))
		for _, mutateAPI := range []bool{true, false} {
			other := *r
			other.MutateAPI = mutateAPI
			diff := repeated(t, again, &other, exhibits[i])
			same := mutateAPI == r.MutateAPI || r.Namespace == "elsewhere"
			if same && diff != nil {
				t.Errorf("%s, made again with mutate_api %v: %v", got[i], mutateAPI, diff)
			}
			if !same && diff == nil {
				t.Errorf("%s: it is the same with mutate_api %v, so this test says nothing", got[i], mutateAPI)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"elsewhere/web-node-1 allow ×3, mutate_api true", "shop/web-node-1 allow ×2, mutate_api true", "shop/web-node-1 hold ×1, mutate_api false",
	}, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestAnInstanceThatTheMachineDoesNotHaveAtOnceIsAwaited(t *testing.T) {
	t.Parallel()
	for script, fails := range map[string]int{"late": 2, "unwell": 2} {
		at, d, well := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
		d.Policy("p", script)
		well.Faults = fails // as if the machine had failed already
		log, closeAll := policytest.RecordsIn(t, at)
		c := testConfig(d, well)
		c.Records = log
		p := New(c)
		stop := run(t, p)
		ask(t, p, policytest.Question("web"))
		stop()
		closeAll()
		records, exhibits := evidenceIn(t, at)
		again := replay.NewReplayer(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler))
		if d := repeated(t, again, records[0], exhibits[0]); d != nil || len(records) != 1 || records[0].Verdict.Answer != api.Allow {
			t.Errorf("%s: %v of %+v", script, d, records)
		}
		again.Close()
	}
}
