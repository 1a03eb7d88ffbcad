package replay

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// inFlight is how many decisions are made at once.
	inFlight = 64
	// recordBytes is the disk space for the decisions about the pods of each owner.
	recordBytes = 1 << 30
)

// plane makes decisions and keeps them in a state directory.
type plane struct {
	*policy.Engine
	// asked counts the questions.
	asked atomic.Int64
	stop  func()
}

// newPlane starts a plane with the operator's directory and that of tenant a, whose namespace is
// team.
func newPlane(t *testing.T, dir, operators, tenants string) *plane {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	disk, err := state.Open(dir, log)
	must(t, err)
	records, err := disk.Decisions(map[string]int64{"": recordBytes, "a": recordBytes})
	must(t, err)
	engine, err := wasm.NewEngine(filepath.Join(t.TempDir(), "compiled"), log, wasm.WithCompiling(compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute}, compile.Normal))
	must(t, err)
	p := &plane{}
	p.Engine = policy.New(policy.Config{
		Dir: operators, Sources: []string{"cluster", "static"}, Kinds: map[string]string{"static": api.KindFile, "cluster": pod.SourceAPI},
		Tenants:        []policy.Tenant{{Name: "a", Dir: tenants, MaxSuppress: time.Minute, FuelPerSecond: 1 << 50, Owns: func(ns string) bool { return ns == "team" }}},
		DefaultVerdict: api.Allow, Node: "node-1", Version: "test", Records: records, Opinions: disk.Opinions(), MaxSuppress: time.Hour,
		Facts:      &policy.Node{Is: nodeIs, Pods: p.onNode, Wanted: func(types.UID, string) bool { return false }},
		References: objects{p}, Loader: eval.Sandbox(engine), Logger: log, Now: time.Now,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = p.Run(ctx) })
	p.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		must(t, engine.Close())
		must(t, records.Close())
		must(t, disk.Close())
	})
	t.Cleanup(p.stop)
	for _, tenant := range []string{"", "a"} {
		_, err := p.Reload(t.Context(), tenant)
		must(t, err)
	}
	return p
}

// onNode returns the pods on the node, which change as questions are asked.
func (p *plane) onNode() (pods []policy.NodePod) {
	for i := range p.asked.Load() / 100 % 8 {
		pods = append(pods, policy.NodePod{Pod: podNumber(*size+int(i), "shop"), Source: "static"})
	}
	return pods
}

// objects are the objects that pods name. They change as questions are asked, and some are not
// known yet.
type objects struct{ *plane }

// Reference implements policy.References.
func (o objects) Reference(_ *v1.Pod, r pod.Reference) (known api.Reference, wait time.Duration, err error) {
	known = api.Reference{Kind: "ConfigMap", Name: r.Name, Optional: r.Optional}
	switch n := o.asked.Load(); n / 50 % 8 {
	case 0: // it does not exist
	case 1:
		err = fmt.Errorf("ConfigMap shop/%s is not known yet", r.Name)
	default:
		known.Keys, known.Digest = []string{"a", "b"}, fmt.Sprint("sha256:", n/50)
	}
	return known, 0, err
}

// Unreferenced implements policy.References.
func (objects) Unreferenced(types.UID) {}

// Refused implements policy.References.
func (objects) Refused() []policy.RefusedPod { return nil }

// JudgeAgain implements policy.References.
func (objects) JudgeAgain([]types.UID) {}

// podNumber returns a pod as the agent decodes its manifest. Its number decides which
// policies are asked about it.
func podNumber(i int, namespace string) *v1.Pod {
	labels, image := fmt.Sprintf("{number: \"%d\"", i), "registry.example/shop/web"
	if i%3 == 0 {
		labels += ", see: a"
	}
	if i%4 < 2 {
		labels += ", change: a"
	}
	if i%5 < 3 {
		labels += ", fail: perhaps"
	}
	switch {
	case i%200 == 0:
		image = imageTraps
	case i%5 == 0:
		image = imageLoops
	}
	documents := manifest.Decode(fmt.Appendf(nil, manifestText, i, namespace, labels+"}", image, i), manifest.DecodeFrom{Source: "static", Kind: api.KindFile, File: "pods.yaml", NodeName: "node-1"})
	if documents[0].Err != nil {
		panic(documents[0].Err)
	}
	return documents[0].Pod
}

const manifestText = `apiVersion: v1
kind: Pod
metadata: {name: pod-%d, namespace: %s, labels: %s, annotations: {note: "a\u2028\"b\n<>"}}
spec: {containers: [{name: c, image: %s, env: [{name: TOKEN, value: secret-%d}], envFrom: [{configMapRef: {name: app}}]}]}
`

// ask requests the decisions with the numbers in [from, to). Of every ten, one each is of
// the hooks filter, merge and connect.
func (p *plane) ask(t *testing.T, from, to int) {
	t.Helper()
	var waiting sync.WaitGroup
	room := make(chan struct{}, inFlight)
	for i := from; i < to; i++ {
		room <- struct{}{}
		waiting.Add(1)
		p.asked.Add(1)
		p.one(i, func() { <-room; waiting.Done() })
	}
	waiting.Wait()
}

// one asks about the pod with a number; answered is called after the answer.
func (p *plane) one(i int, answered func()) {
	namespace := "shop"
	if i%2 == 0 {
		namespace = "team"
	}
	x := podNumber(i, namespace)
	origin := api.Origin{Source: "static", Document: x.Name + ".yaml#0"}
	old := podNumber(i, namespace)
	old.Labels["old"] = "yes"
	switch i % 10 {
	case 7:
		p.Connect(api.Question{Op: api.Connect, Pod: x, Origin: origin, Connection: &api.Connection{
			Kind: api.ConnectExec, Source: api.FromNodeAPI, Container: "c", Command: []string{"sh", "-c", fmt.Sprintf("echo secret-%d", i)}, User: "alice",
		}}, func(api.Verdict) { answered() })
	case 8:
		p.Filter(api.FilterQuestion{Op: api.UpdateOp, Pod: x, Old: old, Origin: origin}, func(api.FilterVerdict) { answered() })
	case 9:
		p.Rules().Resolve(api.Contest{Identity: types.NamespacedName{Namespace: namespace, Name: x.Name}, Candidates: []api.Candidate{
			{Pod: old, Origin: origin, Running: old}, {Pod: x, Origin: api.Origin{Source: "cluster", Document: "b#0", FirstSeen: time.Now()}},
		}}, func(api.Resolution) { answered() })
	default:
		p.Judge(api.Question{Op: api.Add, Pod: x, Origin: origin}, func(api.Verdict) { answered() })
	}
}

func nodeIs() (labels, allocatable map[string]string) {
	return map[string]string{"zone": "1"}, map[string]string{"pods": "110"}
}
