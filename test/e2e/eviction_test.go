//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/harness"
)

// hasDisk mounts a file system of this size, in the form of mount(8), for the pods of an agent that
// has not started.
func (a *agent) hasDisk(t *testing.T, size string) {
	t.Helper()
	root := a.Path("root")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("wardlet-"+a.name, root, "tmpfs", 0, "size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the agent's directory is removed
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestEviction_ofAFullDisk: a pod that fills the file system of pods beyond a threshold is evicted,
// and its neighbour runs on. While the node is under pressure a new pod waits, and then starts.
func TestEviction_ofAFullDisk(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "evict")
	a.hasDisk(t, "64m")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), harness.FullDisk, "", 1)+
		"\n[eviction]\npressure_transition_period = \"20s\"\nminimum_reclaim = { \"nodefs.available\" = \"1Mi\" }\n[eviction.hard]\n\"nodefs.available\" = \"50%\"\n\"imagefs.available\" = \"0%\"\n")
	a.start(t)
	withVolume := func(name string) string {
		return hostPod(name, "sleep") + "    volumeMounts: [{name: data, mountPath: /data}]\n  volumes: [{name: data, emptyDir: {}}]\n"
	}
	a.manifest(t, "full.yaml", withVolume("full"))
	a.manifest(t, "small.yaml", withVolume("small"))
	for name, p := range a.running(t, "full", "small") {
		size := int64(40 << 20)
		if name == "small" {
			size = 1 << 20
		}
		path := a.Path("root", "pods", string(p.UID), "volumes", "kubernetes.io~empty-dir", "data", "file")
		if err := allocate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	a.pod(t, "full", func(p *v1.Pod) error {
		st := &p.Status
		if st.Phase != v1.PodFailed || st.Reason != "Evicted" || !strings.HasPrefix(st.Message, "The node was low on resource: ephemeral-storage. Threshold quantity: 32Mi, available: ") {
			return fmt.Errorf("phase %s, reason %q, message %q", st.Phase, st.Reason, st.Message)
		}
		for _, c := range st.Conditions {
			if c.Type == v1.DisruptionTarget && c.Reason == v1.PodReasonTerminationByKubelet && c.Message == st.Message {
				return nil
			}
		}
		return fmt.Errorf("conditions %+v", st.Conditions)
	})
	a.event(t, "full", "Evicted", "Warning", "The node was low on resource: ephemeral-storage.")
	eventually(t, "event EvictionThresholdMet about the node", func(ctx context.Context) error {
		var events []api.Event
		if err := a.API.Get(ctx, "/v1/events", &events); err != nil {
			return err
		}
		if !slices.ContainsFunc(events, func(e api.Event) bool {
			return e.Name == "evict" && e.Reason == "EvictionThresholdMet" && e.Message == "Attempting to reclaim ephemeral-storage"
		}) {
			return fmt.Errorf("%d others", len(events))
		}
		return nil
	})
	a.manifest(t, "late.yaml", hostPod("late", "sleep"))
	a.pod(t, "late", func(p *v1.Pod) error {
		if st := &p.Status; st.Phase != v1.PodPending || st.Reason != "Evicted" || st.Message != "Pod was rejected for now: The node had condition: [DiskPressure]. " {
			return fmt.Errorf("phase %s, reason %q, message %q", st.Phase, st.Reason, st.Message)
		}
		return nil
	})
	a.running(t, "late", "small")
	a.remove(t, "full.yaml", "small.yaml", "late.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}

// TestEviction_withoutAByteLeft: a pod fills the file system that also has the agent's state, to its last
// byte. The pod is evicted all the same, its neighbour runs on, and the agent stays up.
func TestEviction_withoutAByteLeft(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "brimful")
	a.hasDisk(t, "64m")
	config := strings.Replace(a.read(t, "agent.toml"), harness.FullDisk, "", 1)
	moved := strings.Replace(config, fmt.Sprintf("state_root = %q", a.Path("state")), fmt.Sprintf("state_root = %q", a.Path("root", "state")), 1)
	if moved == config {
		t.Fatalf("no state_root in %s", config)
	}
	a.write(t, a.ConfigFile(), moved+"\n[eviction.hard]\n\"nodefs.available\" = \"20%\"\n\"imagefs.available\" = \"0%\"\n")
	a.start(t)
	a.manifest(t, "full.yaml", hostPod("full", "sleep")+"    volumeMounts: [{name: data, mountPath: /data}]\n  volumes: [{name: data, emptyDir: {}}]\n")
	a.manifest(t, "small.yaml", hostPod("small", "sleep"))
	pods := a.running(t, "full", "small")
	before := container(pods["small"])
	var disk unix.Statfs_t
	if err := unix.Statfs(a.Path("root"), &disk); err != nil {
		t.Fatal(err)
	}
	path := a.Path("root", "pods", string(pods["full"].UID), "volumes", "kubernetes.io~empty-dir", "data", "file")
	if err := allocate(path, int64(disk.Bavail)*disk.Bsize); err != nil {
		t.Fatal(err)
	}
	a.pod(t, "full", func(p *v1.Pod) error {
		if st := &p.Status; st.Phase != v1.PodFailed || st.Reason != "Evicted" || !strings.HasPrefix(st.Message, "The node was low on resource: ephemeral-storage. ") {
			return fmt.Errorf("phase %s, reason %q, message %q", st.Phase, st.Reason, st.Message)
		}
		return nil
	})
	if after := container(a.running(t, "small")["small"]); after != before {
		t.Errorf("the neighbour has container %s, had %s", after, before)
	}
	a.remove(t, "full.yaml", "small.yaml")
	a.nothingLeft(t, n)
}

// TestEviction_forMemory: an agent whose threshold is always met evicts the pod that uses more than it
// requests, by the memory of its cgroup, and spares a critical one. A new pod that requests nothing
// waits.
func TestEviction_forMemory(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "memory")
	a.start(t)
	a.manifest(t, "big.yaml", hostPod("big", "sleep")+"    resources: {requests: {memory: 1Ki}}\n")
	a.manifest(t, "dns.yaml", hostPod("dns", "sleep"))
	before := a.running(t, "big", "dns")
	a.stop(t)
	config := strings.Replace(a.read(t, "agent.toml"), harness.FullDisk, "", 1)
	a.write(t, a.ConfigFile(), strings.Replace(config, "[runtime]\n", "[node]\ncritical = [\"default/dns\"]\n[runtime]\n", 1)+
		"\n[eviction]\nsoft = { \"memory.available\" = \"1Ei\" }\nsoft_grace_period = { \"memory.available\" = \"1s\" }\n"+harness.FullDisk)
	a.start(t)
	a.pod(t, "big", func(p *v1.Pod) error {
		st := &p.Status
		if st.Phase != v1.PodFailed || st.Reason != "Evicted" || !strings.HasPrefix(st.Message, "The node was low on resource: memory. Threshold quantity: 1Ei, available: ") ||
			!strings.Contains(st.Message, "Container main was using ") {
			return fmt.Errorf("phase %s, reason %q, message %q", st.Phase, st.Reason, st.Message)
		}
		return nil
	})
	a.manifest(t, "late.yaml", hostPod("late", "sleep"))
	a.pod(t, "late", func(p *v1.Pod) error {
		if st := &p.Status; st.Phase != v1.PodPending || st.Message != "Pod was rejected for now: The node had condition: [MemoryPressure]. " {
			return fmt.Errorf("phase %s, reason %q, message %q", st.Phase, st.Reason, st.Message)
		}
		return nil
	})
	was, is := before["dns"], a.running(t, "dns")["dns"]
	if was.Status.ContainerStatuses[0].ContainerID != is.Status.ContainerStatuses[0].ContainerID {
		t.Error("the critical pod was started again")
	}
	a.remove(t, "big.yaml", "dns.yaml", "late.yaml")
	a.nothingLeft(t, n)
}

// allocate makes a file that uses so many bytes of the disk, in one step: while a file that is being
// evicted is still written, its space stays in use.
func allocate(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, size), f.Close())
}

// TestEviction_removesUnusedImages: before pods are evicted because the file system of images is full,
// images that nothing needs are removed. Those of pods, and pinned ones, stay.
func TestEviction_removesUnusedImages(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "unused")
	names := func(ctx context.Context) (map[string]bool, error) {
		answer, err := n.images.ListImages(ctx, &criapi.ListImagesRequest{})
		names := map[string]bool{}
		for _, i := range answer.GetImages() {
			for _, tag := range i.GetRepoTags() {
				names[tag] = true
			}
		}
		return names, err
	}
	const unused, used, pinned = "registry.wardlet.test/standin:nonroot", webOne, "registry.wardlet.test/pause:1"
	if before, err := names(t.Context()); err != nil || !before[unused] || !before[used] || !before[pinned] {
		t.Fatalf("images %v, %v", before, err)
	}
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.running(t, "web")
	a.stop(t)
	config := strings.NewReplacer(`"imagefs.available" = "0%"`, `"imagefs.available" = "99.9%"`, "[runtime]\n", "[node]\ncritical = [\"default/web\"]\n[runtime]\n")
	a.write(t, a.ConfigFile(), config.Replace(a.read(t, "agent.toml")))
	a.start(t)
	eventually(t, "removal of an unused image", func(ctx context.Context) error {
		left, err := names(ctx)
		if err != nil || left[unused] {
			return fmt.Errorf("images %v, %w", left, err)
		}
		if !left[used] || !left[pinned] {
			t.Errorf("only %v are left", left)
		}
		return nil
	})
	a.running(t, "web")
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

var pressed = flag.Duration("pressed", 5*time.Second, "for how long pods fill the disk one after the other in TestEviction_neverMoreThanNeeded")

// TestEviction_neverMoreThanNeeded: among fifty pods, one after the other fills the disk. Each time
// that pod alone is evicted, and the others run on in the containers that they had.
func TestEviction_neverMoreThanNeeded(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "press")
	a.hasDisk(t, "128m")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), harness.FullDisk, "", 1)+
		"\n[eviction]\npressure_transition_period = \"1s\"\n[eviction.hard]\n\"nodefs.available\" = \"50%\"\n\"imagefs.available\" = \"0%\"\n")
	a.start(t)
	var names []string
	runs := map[string]string{} // the container of each pod
	begin := func(from, to int) {
		for i := from; i < to; i++ {
			name := fmt.Sprint("p", i)
			names = append(names, name)
			a.manifest(t, name+".yaml", hostPod(name, "sleep")+"    volumeMounts: [{name: data, mountPath: /data}]\n  volumes: [{name: data, emptyDir: {}}]\n")
		}
		pods := a.running(t, names...)
		for _, name := range names[len(runs):] {
			runs[name] = container(pods[name])
		}
	}
	const count = 50
	begin(0, count)
	r := rand.New(rand.NewPCG(1, 1))
	rounds := 0
	for began := time.Now(); rounds < 2 || time.Since(began) < *pressed; rounds++ {
		at := r.IntN(len(names))
		greedy := names[at]
		p := a.running(t, greedy)[greedy]
		if err := allocate(a.Path("root", "pods", string(p.UID), "volumes", "kubernetes.io~empty-dir", "data", "file"), 72<<20); err != nil {
			t.Fatal(err)
		}
		a.pod(t, greedy, func(p *v1.Pod) error {
			if p.Status.Phase != v1.PodFailed || p.Status.Reason != "Evicted" {
				return fmt.Errorf("phase %s, reason %q", p.Status.Phase, p.Status.Reason)
			}
			return nil
		})
		names = slices.Delete(names, at, at+1)
		delete(runs, greedy)
		a.remove(t, greedy+".yaml")
		begin(count+rounds, count+rounds+1)
		for name, p := range a.running(t, names...) {
			if container(p) != runs[name] {
				t.Fatalf("round %d: %s runs in %s, before in %s", rounds, name, container(p), runs[name])
			}
		}
	}
	t.Logf("%d evictions", rounds)
	for _, name := range names {
		a.remove(t, name+".yaml")
	}
	a.nothingLeft(t, n)
	a.stop(t)
}
