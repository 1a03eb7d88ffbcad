//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/cluster/controlplane"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// The answers of the hook admit.
const (
	allows int32 = iota
	denies
	holds
)

// changes installs the one policy. It returns this answer for every
// change or replacement of a running pod; it does not apply to other pods.
func (a *agent) changes(t *testing.T, answer int32) {
	t.Helper()
	a.put(t, a.Path("policies"), "changes", "admit", wasmtest.Answering(answer, "Changed", "it would be another one"),
		"[match]\nconditions = [\"oldObject != null\"]\n")
}

// waits returns once exactly the changes of these pods are in this state of
// waiting.
func (a *agent) waits(t *testing.T, wait string, names ...string) {
	t.Helper()
	eventually(t, "changes are "+wait, func(ctx context.Context) error {
		all, err := a.waiting(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			if u := all[name]; len(all) != len(names) || u.Wait != wait || u.Policy != "changes" || u.Reason != "Changed" {
				return fmt.Errorf("of %d that wait %s does as %+v", len(all), name, u)
			}
		}
		return nil
	})
}

// stay checks changes that were already made while they are denied, held and after a restart; the
// containers of these pods must stay the same. Then it allows the changes.
func (a *agent) stay(t *testing.T, before map[string]v1.Pod) {
	t.Helper()
	var names []string
	for name := range before {
		names = append(names, name)
	}
	same := func(when string) {
		t.Helper()
		for name, p := range a.running(t, names...) {
			was := before[name]
			if p.UID != was.UID || container(p) != container(was) || p.Status.ContainerStatuses[0].RestartCount != 0 {
				t.Errorf("%s: %s is %s in %s, before %s in %s", when, name, p.UID, container(p), was.UID, container(was))
			}
		}
	}
	a.waits(t, api.WaitDenied, names...)
	same("denied")
	a.changes(t, holds)
	a.waits(t, api.WaitHeld, names...)
	same("held")
	a.kill()
	a.start(t)
	a.waits(t, api.WaitHeld, names...)
	same("held after a restart")
	a.changes(t, denies)
	a.waits(t, api.WaitDenied, names...)
	same("denied again")
	a.changes(t, allows)
	a.waits(t, "")
}

func TestAPodThatRunsStaysUntilTheEditOfItsManifestIsAllowed(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "safe")
	a.withPolicies(t)
	a.changes(t, denies)
	a.start(t)
	fixed := strings.Replace(imagePod("fixed", webOne, ""), "metadata:\n", "metadata:\n  uid: 3b1f2d9e-6a51-4f0f-9a3b-5d0c1c7f1a2b\n", 1)
	for name, manifest := range map[string]string{
		"image": imagePod("image", webOne, ""), "label": imagePod("label", webOne, "tier: a"), "grace": imagePod("grace", webOne, ""), "fixed": fixed,
	} {
		a.manifest(t, name+".yaml", manifest)
	}
	before := a.running(t, "image", "label", "grace", "fixed")
	a.manifest(t, "image.yaml", imagePod("image", webTwo, ""))
	a.manifest(t, "label.yaml", imagePod("label", webOne, "tier: b"))
	a.manifest(t, "grace.yaml", strings.Replace(imagePod("grace", webOne, ""), "PeriodSeconds: 2", "PeriodSeconds: 1", 1))
	a.manifest(t, "fixed.yaml", strings.Replace(fixed, webOne, webTwo, 1))
	a.stay(t, before)

	a.image(t, "image", webTwo)
	for name, check := range map[string]func(p *v1.Pod) bool{
		"image": func(p *v1.Pod) bool { return p.Spec.Containers[0].Image == webTwo },
		"label": func(p *v1.Pod) bool { return p.Labels["tier"] == "b" },
		"grace": func(p *v1.Pod) bool { return *p.Spec.TerminationGracePeriodSeconds == 1 },
		"fixed": func(p *v1.Pod) bool { return p.Spec.Containers[0].Image == webTwo },
	} {
		a.pod(t, name, func(p *v1.Pod) error {
			was := before[name]
			if !check(p) || !ready(*p) || container(*p) == container(was) || (p.UID == was.UID) != (name == "fixed") {
				return fmt.Errorf("%s is %s in %s, before %s in %s", p.UID, p.Status.Phase, container(*p), was.UID, container(was))
			}
			return nil
		})
	}
	a.remove(t, "image.yaml", "label.yaml", "grace.yaml", "fixed.yaml")
	a.nothingLeft(t, n)
}

func TestAPodOfAnAPIServerThatRunsStaysUntilItsChangeIsAllowed(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	plane := startPlane(t)
	ask := func(method, path string, in, out any) {
		t.Helper()
		if err := plane.Admin().Do(t.Context(), method, path, in, out); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	do := func(method, path string, in any) {
		t.Helper()
		ask(method, path, in, nil)
	}
	do(http.MethodPost, "/api/v1/namespaces", &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	do(http.MethodPost, "/api/v1/namespaces/shop/serviceaccounts", &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	names := []string{"image", "label", "debug"}
	for _, name := range names {
		do(http.MethodPost, "/api/v1/namespaces/shop/pods", &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-edge"},
			Spec: v1.PodSpec{
				NodeName: "edge", HostNetwork: true, AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(2)),
				Containers: []v1.Container{{Name: "main", Image: webOne, Args: []string{"sleep"}}},
				Volumes:    []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}},
			},
		})
	}
	a := newAgent(t, n, "edge")
	a.withPolicies(t)
	a.withAPIServer(t, plane)
	a.changes(t, denies)
	a.start(t)
	before := a.running(t, names...)
	debug := before["debug"]

	const pods = "/api/v1/namespaces/shop/pods/"
	var changed v1.Pod
	ask(http.MethodGet, pods+"image-edge", nil, &changed)
	changed.Spec.Containers[0].Image = webTwo
	do(http.MethodPatch, pods+"image-edge", map[string]any{"spec": map[string]any{"containers": changed.Spec.Containers}})
	do(http.MethodPatch, pods+"label-edge", map[string]any{"metadata": map[string]any{"labels": map[string]string{"tier": "b"}}})
	delete(before, "debug")
	a.stay(t, before)

	a.pod(t, "image", func(p *v1.Pod) error {
		if was := before["image"]; p.UID != was.UID || !ready(*p) || container(*p) == container(was) || p.Spec.Containers[0].Image != webTwo {
			return fmt.Errorf("%s runs %s in %s, before in %s", p.UID, p.Spec.Containers[0].Image, container(*p), container(was))
		}
		return nil
	})
	a.pod(t, "label", func(p *v1.Pod) error {
		if p.Labels["tier"] != "b" || container(*p) != container(before["label"]) {
			return fmt.Errorf("labels %v, container %s, before %s", p.Labels, container(*p), container(before["label"]))
		}
		return nil
	})
	var all []any
	add := func(more map[string]any) {
		t.Helper()
		more["image"], more["args"] = webTwo, []string{"sleep"}
		all = append(all, more)
		do(http.MethodPatch, pods+"debug-edge/ephemeralcontainers", map[string]any{"spec": map[string]any{"ephemeralContainers": all}})
	}
	add(map[string]any{"name": "debug"})
	a.pod(t, "debug", func(p *v1.Pod) error {
		if e := p.Status.EphemeralContainerStatuses; len(e) != 1 || e[0].State.Running == nil {
			return fmt.Errorf("its ephemeral containers are %v", e)
		}
		return nil
	})
	// Fields that this version does not support are rejected before any policy is asked.
	add(map[string]any{"name": "other", "env": []any{map[string]any{"name": "A", "valueFrom": map[string]any{"resourceFieldRef": map[string]any{"resource": "limits.hugepages-2Mi"}}}}})
	a.says(t, "get updates -o wide", "debug-edge", `spec.ephemeralContainers[1].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.hugepages-2Mi"`)
	if p := a.running(t, "debug")["debug"]; p.UID != debug.UID || container(p) != container(debug) {
		t.Errorf("%s runs in %s, before in %s", p.UID, container(p), container(debug))
	}
	for _, name := range names {
		do(http.MethodDelete, pods+name+"-edge?gracePeriodSeconds=0", nil)
	}
	a.nothingLeft(t, n)
	a.stop(t)
}

// startPlane starts an API server for the test.
func startPlane(t *testing.T) *controlplane.Cluster {
	t.Helper()
	programs, err := filepath.Abs(clusterPrograms)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(t.Context(), programs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}
