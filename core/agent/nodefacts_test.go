package agent

import (
	"context"
	"log/slog"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// denyingOne is a gate that denies the pod "denied" and allows all others.
type denyingOne struct{}

func (denyingOne) Judge(q api.Question, answer func(api.Verdict)) {
	v := api.Verdict{Answer: api.Allow}
	if q.Pod.Name == "denied" {
		v.Answer = api.Deny
	}
	answer(v)
}

func (denyingOne) Admitted(api.Question, api.Verdict) {}

func (denyingOne) Changed() <-chan struct{} { return nil }

func (denyingOne) NodeChanged() <-chan struct{} { return nil }

func TestThePodsOfTheNodeAreThoseThatWereAdmittedAndHaveNotEnded(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(t.TempDir()+"/state", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	outcomes := checkpoint.NewOutcomes(dir.Outcomes(), slog.New(slog.DiscardHandler))
	outcomes.Wanted = func(types.UID) bool { return true }
	machine, err := node.Machine(&node.Description{Name: "edge", Labels: map[string]string{"site": "north"}, MaxPods: 20, Storage: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	machine.Status.Allocatable[v1.ResourceMemory] = resource.MustParse("3Gi")
	a := &Node{Agent: &Agent{statuses: status.NewStore()}, node: "edge", object: node.NewObject(machine), outcomes: outcomes}
	a.mux = mux.New(mux.Config{
		Sources: []mux.Source{{Name: "static", Kind: api.KindFile}}, Documents: dir.Documents(), Gate: denyingOne{},
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = a.mux.Run(ctx) }) // ends with ctx
	defer running.Wait()
	defer cancel()
	sink, err := a.mux.Sink("static")
	if err != nil {
		t.Fatal(err)
	}
	var docs []api.Document
	for _, name := range []string{"denied", "done", "rejected", "runs", "waits"} {
		docs = append(docs, api.Document{Source: "static", ID: name, Version: "1", Pod: &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(name), Annotations: map[string]string{pod.AnnotationSource: "file", pod.AnnotationHash: name},
		}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "img"}}}}})
	}
	if err := sink.Replace(ctx, docs); err != nil {
		t.Fatal(err)
	}
	for seen := 0; seen < len(docs); {
		select {
		case u := <-a.mux.Updates():
			seen += len(u.Changes)
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d pods are handed on", seen, len(docs))
		}
	}
	if _, err := a.statuses.Set(docs[1].Pod, v1.PodStatus{Phase: v1.PodSucceeded}); err != nil {
		t.Fatal(err)
	}
	outcomes.Save(docs[1].Pod, &v1.PodStatus{Phase: v1.PodSucceeded})
	rejected, waits := docs[2].Pod, docs[4].Pod
	if _, err := a.statuses.Set(rejected, v1.PodStatus{Phase: v1.PodFailed, Reason: "NodePorts"}); err != nil {
		t.Fatal(err)
	}
	outcomes.Rejected(rejected, &v1.PodStatus{Phase: v1.PodFailed, Reason: "NodePorts"}, func() {})
	if _, err := a.statuses.Set(waits, v1.PodStatus{Phase: v1.PodPending, Reason: "NodePorts"}); err != nil {
		t.Fatal(err)
	}
	n := a.nodeFacts()
	var names []string
	for _, p := range n.Pods() {
		names = append(names, p.Pod.Name+" of "+p.Source)
	}
	if slices.Sort(names); strings.Join(names, ", ") != "runs of static, waits of static" {
		t.Errorf("pods %q", names)
	}
	newer := docs[1].Pod.DeepCopy()
	newer.Annotations[pod.AnnotationHash] = "newer"
	wanted := func(p *v1.Pod) bool {
		instance, err := pod.Instance(p)
		return err == nil && n.Wanted(p.UID, instance)
	}
	if !n.Wanted("done", "") || n.Wanted("other", "") || !wanted(docs[1].Pod) || wanted(newer) {
		t.Error("the node does not know what is wanted")
	}
	if !n.Ended(docs[1].Pod) || !n.Ended(rejected) || n.Ended(docs[3].Pod) || n.Ended(waits) || n.Ended(newer) {
		t.Error("the node does not know what has ended")
	}
	newer.Status.Phase = v1.PodFailed
	if !n.Ended(newer) {
		t.Error("a pod that has ended by its source has not")
	}
	labels, allocatable := n.Is()
	if labels[v1.LabelHostname] != "edge" || labels[v1.LabelArchStable] != goruntime.GOARCH || allocatable["memory"] != "3Gi" || allocatable["cpu"] == "" ||
		labels["site"] != "north" || allocatable["pods"] != "20" || allocatable["ephemeral-storage"] == "" {
		t.Errorf("labels %v, allocatable %v", labels, allocatable)
	}
	a.object.Update(func(is *v1.Node) { is.Labels = map[string]string{"site": "south"} })
	if labels, _ := n.Is(); labels["site"] != "south" {
		t.Errorf("labels %v of a node that has changed", labels)
	}
}
