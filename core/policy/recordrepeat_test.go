package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
	"github.com/wardlet/wardlet/core/state"
)

// drawing is a plugin whose message is random: it comes from every bit that the
// plugin may know of the question. It denies, drops, or has the second win.
func drawing() []byte {
	m := wasmtest.Plugin(wasmtest.WASI("random_get", wasmtest.I32, wasmtest.I32), wasmtest.Reason)
	draw := wasmtest.Join(
		wasmtest.I32Const(wasmtest.Input), wasmtest.I32Const(64), wasmtest.Call(m.Imported("random_get")), wasmtest.Drop,
		wasmtest.I32Const(0), wasmtest.I32Const(0), wasmtest.I32Const(wasmtest.Input), wasmtest.I32Const(64),
		wasmtest.Call(m.Imported("reason")), wasmtest.I32Const(1),
	)
	m.Admit(draw)
	m.Filter(draw)
	m.Merge(draw)
	return m.Bytes()
}

// again makes the decision of a record again, with nothing but what is on the disk,
// and gives the opinions. change is what is done to each document before.
func again(t *testing.T, log *state.DecisionLog, loader Loader, r *state.DecisionRecord, change func(*v1.Pod)) (opinions []pod.Opinion) {
	t.Helper()
	get := func(digest string, into any) {
		text, err := log.Input(r.Tenant, digest)
		must(t, err)
		must(t, json.Unmarshal(text, into))
	}
	document := func(digest string) *v1.Pod {
		if digest == "" {
			return nil
		}
		p := &v1.Pod{}
		get(digest, p)
		change(p)
		return p
	}
	at := r.Verdict.At
	q := &pod.Question{
		Op: r.Op, Pod: document(r.Pod), Old: document(r.Old), Replaces: r.Replaces, Origin: pod.Origin{Source: r.Source, Document: r.Document},
	}
	m := &wasm.MergeRequest{Current: q.Old, Tenant: r.Tenant, Time: at, ClockSynchronized: r.ClockSynchronized}
	for _, x := range r.Candidates {
		m.Candidates = append(m.Candidates, wasm.Candidate{
			Pod: document(x.Pod), Origin: pod.Origin{Source: x.Source, Document: x.Document}, Kind: x.Kind,
			Running: x.Running, Restored: x.Restored, FirstSeen: x.FirstSeen,
		})
	}
	for i := range r.Policies {
		x := &r.Policies[i]
		text, err := log.PolicyFile(x.Document)
		must(t, err)
		module, err := log.PolicyFile(x.Module)
		must(t, err)
		doc, err := parseDocument("p.toml", "p.toml", text, false)
		must(t, err)
		plugin, err := loader.Load(t.Context(), module, doc.loads(r.Node))
		must(t, err)
		var facts *wasm.NodeFacts
		if x.NodeFacts != "" {
			facts = &wasm.NodeFacts{}
			get(x.NodeFacts, facts)
		}
		w := &wasm.Request{
			Question: q, Kind: r.Kind, Tenant: r.Tenant, Changed: r.Changed, Time: at, ClockSynchronized: r.ClockSynchronized, Node: facts,
		}
		o := pod.Opinion{Policy: x.Name, Tenant: x.Tenant}
		switch r.Hook {
		case hookAdmit:
			got, err := plugin.Admit(t.Context(), w)
			must(t, err)
			o.Answer, o.Message, o.Fuel = got.Answer, got.Message, got.Fuel
		case hookFilter:
			got, err := plugin.Filter(t.Context(), w)
			must(t, err)
			o.Answer, o.Message, o.Fuel = pod.Answer(got.Answer), got.Message, got.Fuel
		case hookMerge:
			got, err := plugin.Merge(t.Context(), m)
			must(t, err)
			o.Answer, o.Message, o.Fuel = pod.Answer(got.Answer), got.Message, got.Fuel
		}
		opinions = append(opinions, o)
		must(t, plugin.Close())
	}
	return opinions
}

func TestADecisionCanBeMadeAgainFromItsRecordAlone(t *testing.T) { //nolint:tparallel // its parts share what is closed after them
	t.Parallel()
	d := newTree(t)
	const both = `capabilities = ["node.read"]` + "\n[settings]\nlist = [1, \"two\"]"
	d.write("p.wasm", string(drawing()))
	for _, hook := range []string{hookAdmit, hookFilter, hookMerge} {
		d.write(hook+".toml", "api = \"wardlet.dev/v1\"\nname = \""+hook+"\"\nmodule = \"p.wasm\"\nsha256 = \""+sumOf(string(drawing()))+"\"\nhooks = [\""+hook+"\"]\n"+both)
	}
	log, closeAll := recordsIn(t, filepath.Join(t.TempDir(), "state"))
	c := sandboxed(t, d)
	c.Records, c.Sources = log, []string{"cluster", "static"}
	c.Tenants = []Tenant{{Name: "a", Owns: func(ns string) bool { return ns == "shop" }, FuelPerSecond: 1 << 40}}
	c.Facts = &Node{
		Labels: map[string]string{"zone": "1"}, Allocatable: map[string]string{"cpu": "4"},
		Pods:   func() []NodePod { return []NodePod{{somePod("other"), "static"}} },
		Wanted: func(types.UID, string) bool { return true },
	}
	p := New(c)
	stop := run(t, p)
	newer := func(q *pod.Question) {
		q.Op, q.Old = pod.UpdateOp, somePod("web")
		q.Pod = somePod("web", func(p *v1.Pod) {
			p.Spec.Containers[0].Image = "<other>"
			p.Status.Phase = v1.PodRunning
			p.Annotations["note"] = "a\u2028\"b\n"
		})
	}
	ask(t, p, question("web", newer))
	q := question("web", newer)
	passed := make(chan pod.FilterVerdict, 1)
	p.Filter(pod.FilterQuestion{Op: q.Op, Pod: q.Pod, Old: q.Old, Origin: q.Origin}, func(v pod.FilterVerdict) { passed <- v })
	<-passed
	resolved := make(chan pod.Resolution, 1)
	p.Rules().Resolve(pod.Contest{Identity: types.NamespacedName{Namespace: "shop", Name: "web"}, Candidates: []pod.Candidate{
		{Pod: somePod("web"), Origin: pod.Origin{Source: "static", Document: "a#0", FirstSeen: instant}, Running: somePod("web")},
		{Pod: q.Pod, Origin: pod.Origin{Source: "cluster", Document: "b#0", FirstSeen: instant.Add(1e6)}, Restored: true},
	}}, func(r pod.Resolution) { resolved <- r })
	<-resolved
	stop()

	records, err := log.Newest(10)
	must(t, err)
	if len(records) != 3 {
		t.Fatalf("%d records: %+v", len(records), records)
	}
	for i := range records {
		r := &records[i]
		t.Run(r.Hook, func(t *testing.T) {
			want := r.Verdict.Opinions
			if len(want) != 1 || want[0].Message == "" || want[0].Failure != "" || want[0].Fuel == 0 {
				t.Fatalf("opinions %+v", want)
			}
			was := pod.Opinion{Policy: want[0].Policy, Tenant: want[0].Tenant, Answer: want[0].Answer, Message: want[0].Message, Fuel: want[0].Fuel}
			got := again(t, log, c.Loader, r, func(*v1.Pod) {})
			if r.Hook == hookMerge {
				was.Answer = "winner" // the opinion names it
			}
			if diff := cmp.Diff([]pod.Opinion{was}, got); diff != "" {
				t.Errorf("opinions (-on record +made again):\n%s", diff)
			}
			other := again(t, log, c.Loader, r, func(p *v1.Pod) { p.Annotations["note"] = "b" })
			if other[0].Message == was.Message {
				t.Error("another document gives the same random numbers, so this test says nothing")
			}
			late := *r
			late.Verdict.At = r.Verdict.At.Add(time.Millisecond)
			if other := again(t, log, c.Loader, &late, func(*v1.Pod) {}); other[0].Message == was.Message {
				t.Error("another time gives the same random numbers, so this test says nothing")
			}
		})
	}
	closeAll()
}

// judgedAgain makes the decision of a record of one owner's policies again, with
// nothing but what is on the disk and mutate_api.
func judgedAgain(t *testing.T, log *state.DecisionLog, s *scripts, r *state.DecisionRecord, mutateAPI bool) pod.Verdict {
	t.Helper()
	d := newTree(t)
	for i := range r.Policies {
		x := &r.Policies[i]
		for suffix, digest := range map[string]string{".toml": x.Document, ".wasm": x.Module} {
			text, err := log.PolicyFile(digest)
			must(t, err)
			d.write(x.Name+suffix, string(text))
		}
	}
	policies, err := loadOnce(t, d, s, nil)
	must(t, err)
	defer policies.release()
	text, err := log.Input(r.Tenant, r.Pod)
	must(t, err)
	q := pod.Question{Op: r.Op, Pod: &v1.Pod{}, Origin: pod.Origin{Source: r.Source, Document: r.Document}}
	must(t, json.Unmarshal(text, q.Pod))
	made := deciding(q)
	made.request.Kind, made.request.Time, made.instance, made.mutateAPI = r.Kind, r.Verdict.At, r.Instance, mutateAPI
	v := judge(t.Context(), []*set{policies}, made, r.Default)
	v.Mutation = v.Mutation.Shown()
	v.Sets = r.Verdict.Sets // of a set, only the policies that had an opinion are on record
	return v
}

func TestARecordHoldsWhetherPodsOfAnAPIServerCouldBeChanged(t *testing.T) {
	t.Parallel()
	d, s := newTree(t), patching(map[string]string{"labels": toLabel("a", "b")})
	d.policy("labels", "allow", labelsPath, "[match]\nnamespaces = [\"shop\"]")
	d.policy("other", "allow")
	at := filepath.Join(t.TempDir(), "state")
	changed, plain := written(t, ofAPI(t)), written(t, in("elsewhere"), ofAPI(t))
	plain.Pod.UID = "uid-plain"
	for _, mutateAPI := range []bool{true, false, true} { // the agent is started again with another configuration
		log, closeAll := recordsIn(t, at)
		c := testConfig(d, s)
		c.Records, c.MutateAPI = log, mutateAPI
		p := New(c)
		stop := run(t, p)
		if v := ask(t, p, changed); (v.Answer == pod.Allow) != mutateAPI || (v.Mutation != nil) != mutateAPI {
			t.Errorf("mutate_api %v: verdict %+v", mutateAPI, v)
		}
		ask(t, p, plain)
		stop()
		closeAll()
	}

	log, closeAll := recordsIn(t, at)
	defer closeAll()
	records, err := log.Newest(10)
	must(t, err)
	var got []string
	for i := range records {
		r := &records[i]
		got = append(got, fmt.Sprintf("%s/%s %s ×%d, mutate_api %v", r.Namespace, r.Name, r.Verdict.Answer, r.Count, r.MutateAPI))
		for _, mutateAPI := range []bool{true, false} {
			diff := cmp.Diff(r.Verdict, judgedAgain(t, log, s, r, mutateAPI))
			same := mutateAPI == r.MutateAPI || r.Namespace == "elsewhere"
			if same && diff != "" {
				t.Errorf("%s, made again with mutate_api %v (-on record +made again):\n%s", got[i], mutateAPI, diff)
			}
			if !same && diff == "" {
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
