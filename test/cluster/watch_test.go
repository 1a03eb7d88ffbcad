//go:build e2e

package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/manifest"
)

// TestLife: the documents of a pod through its whole life.
func TestLife(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	id := r.space + "/web"
	r.add(t, "old")
	r.run(t)
	r.converges(t)
	r.add(t, "web")
	r.converges(t)
	if d, _ := r.sink.document(id); d.Err != nil || d.Pod.Spec.Containers[0].Image != "registry.example/web:1" {
		t.Errorf("added: %+v", d)
	}
	r.do(t, http.MethodPatch, r.pods()+"/web", map[string]any{"spec": map[string]any{
		"containers": []map[string]any{{"name": "c", "image": "registry.example/web:2"}},
	}}, nil)
	r.converges(t)
	if d, _ := r.sink.document(id); d.Err != nil || d.Pod.Spec.Containers[0].Image != "registry.example/web:2" {
		t.Errorf("changed: %+v", d)
	}
	node, err := r.plane.Client("system:node:"+r.node, "system:nodes")
	must(t, err)
	defer node.Close()
	must(t, node.Do(t.Context(), http.MethodPatch, r.pods()+"/web/status", map[string]any{"status": map[string]any{"phase": "Running"}}, nil))
	r.converges(t)
	if d, _ := r.sink.document(id); d.Err != nil || d.Pod.Status.Phase != v1.PodRunning {
		t.Errorf("status: %+v", d)
	}
	r.remove(t, "web")
	r.converges(t)
	if d, _ := r.sink.document(id); d.Err != nil || d.Pod.DeletionTimestamp == nil || *d.Pod.DeletionGracePeriodSeconds != 30 {
		t.Errorf("to be deleted: %+v", d)
	}
	r.purge(t, "web")
	r.converges(t)
	if d, ok := r.sink.document(id); ok {
		t.Errorf("deleted: %+v", d)
	}
	// The server sets the grace period to 0 before it removes the pod.
	want := []string{"= 1", "+ " + id, "+ " + id, "+ " + id, "+ " + id, "+ " + id, "- " + id}
	if got := r.sink.deliveries(); !slices.Equal(got, want) {
		t.Errorf("deliveries %q, want %q", got, want)
	}
}

// TestOnlyThisNode: the source delivers pods of all namespaces, but none of another node and none
// without a node.
func TestOnlyThisNode(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	other := r.space + "-too"
	r.addNamespace(t, other)
	elsewhere := func(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }
	r.add(t, "here")
	r.add(t, "there", elsewhere("another"))
	r.run(t)
	r.converges(t)
	r.add(t, "there-too", elsewhere("another"))
	r.add(t, "nowhere", elsewhere(""))
	mine := r.space
	r.space = other
	r.add(t, "here")
	r.space = mine
	// A pod is assigned to the node when a scheduler binds it.
	r.do(t, http.MethodPost, r.pods()+"/nowhere/binding", &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: "nowhere"}, Target: v1.ObjectReference{Kind: "Node", Name: r.node},
	}, nil)
	r.converges(t)
	want := []string{"= 1", "+ " + other + "/here", "+ " + mine + "/nowhere"}
	if got := r.sink.deliveries(); !slices.Equal(got, want) {
		t.Errorf("deliveries %q, want %q", got, want)
	}
}

// TestAnotherNodesCredentials: the server does not let a node read another node's pods.
func TestAnotherNodesCredentials(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	r.add(t, "web")
	node := r.node
	r.node = "another"
	r.run(t)
	r.says(t, "forbidden", "the credentials must be those of system:node:NODE with this node's name")
	if got := r.sink.deliveries(); len(got) > 0 {
		t.Errorf("delivered: %q", got)
	}
	r.node = node
}

// TestUnsupported: fields that the server adds by itself do not make a pod unsupported.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	r.add(t, "token", func(p *v1.Pod) { p.Spec.AutomountServiceAccountToken = nil })
	r.add(t, "plain", func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80}}
		p.Spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceCPU: p.Spec.Overhead["none"]}
	})
	r.add(t, "debugged", func(p *v1.Pod) {
		p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
	})
	r.run(t)
	r.converges(t)
	says := func(name, want string) {
		t.Helper()
		d, ok := r.sink.document(r.space + "/" + name)
		if !ok || d.Err != nil {
			t.Fatalf("%s: %+v", name, d)
		}
		if err := manifest.Unsupported(d.Pod); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	says("plain", "")
	says("debugged", "")
	says("token", "")
	debug := func(containers ...map[string]any) {
		t.Helper()
		body := map[string]any{"spec": map[string]any{"ephemeralContainers": containers}}
		r.do(t, http.MethodPatch, r.pods()+"/debugged/ephemeralcontainers", body, nil)
		r.converges(t)
	}
	first := map[string]any{"name": "debug", "image": "i"}
	debug(first)
	says("debugged", "")
	debug(first, map[string]any{
		"name": "other", "image": "i", "env": []any{map[string]any{"name": "A", "valueFrom": map[string]any{"resourceFieldRef": map[string]any{"resource": "limits.hugepages-2Mi"}}}},
	})
	says("debugged", "spec.ephemeralContainers[1].env[0].valueFrom.resourceFieldRef.resource")
	r.remove(t, "debugged")
	r.converges(t)
	says("debugged", "")
}

// TestSlowSink: a server closes the watch of a slow reader after a short time; nothing is lost.
func TestSlowSink(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	r.add(t, "first")
	r.run(t)
	r.converges(t)
	release := r.sink.block()
	pad := func(p *v1.Pod) { p.Annotations = map[string]string{"pad": strings.Repeat("x", 100_000)} }
	const pods, rounds = 8, 12
	for i := range pods {
		r.add(t, fmt.Sprintf("p%d", i), pad)
	}
	for round := range rounds {
		for i := range pods {
			r.label(t, fmt.Sprintf("p%d", i), strconv.Itoa(round))
		}
	}
	for i := range pods / 2 {
		r.purge(t, fmt.Sprintf("p%d", i))
	}
	release()
	r.converges(t)
}
