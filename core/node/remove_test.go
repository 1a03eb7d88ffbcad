package node

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestRemoveOfTheLastPodLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, mountinfo := range []string{mountinfoV1, mountinfoV2} {
		c, k := newTest(t, mountinfo)
		ensure(t, c, "g", guaranteed)
		ensure(t, c, "b", burstable)
		ensure(t, c, "e", bestEffort)
		check(t, c.Remove(t.Context(), "b"))
		if len(k.tree(t, "podb")) != 0 || len(k.tree(t, "wardlet/podg")) == 0 {
			t.Errorf("after the burstable pod: %v", k.tree(t, "wardlet"))
		}
		check(t, c.Remove(t.Context(), "e"))
		check(t, c.Remove(t.Context(), "g"))
		if left := k.tree(t, "wardlet"); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		check(t, c.Remove(t.Context(), "g"))
		// After the removal, a cgroup can be created again.
		ensure(t, c, "e", bestEffort)
	}
}

func TestRemoveFindsThePodInEveryClassAndHierarchyAndWhatIsInIt(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV1)
	// The pod's class has changed, and cgroups of its containers are left over.
	ensure(t, c, "p", guaranteed)
	ensure(t, c, "p", bestEffort)
	for _, dir := range []string{"memory/wardlet/podp/c1", "memory/wardlet/podp/c1/nested", "systemd/wardlet/besteffort/podp/c2", "unified/wardlet", "unified/wardlet/podp"} {
		check(t, k.mkdir(filepath.Join(k.root, "sys/fs/cgroup", dir)))
	}
	check(t, c.Remove(t.Context(), "p"))
	if left := k.tree(t, "wardlet"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRemoveEndsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, k := newTest(t, mountinfoV1)
		ensure(t, c, "b", burstable)
		for _, dir := range []string{"memory/wardlet/burstable/podb/empty", "memory/wardlet/burstable/podb/c1"} {
			check(t, k.mkdir(filepath.Join(k.root, "sys/fs/cgroup", dir)))
		}
		k.put(t, "sys/fs/cgroup/memory/wardlet/burstable/podb/c1/cgroup.procs", "42\n43\n")
		before := len(k.tree(t, "wardlet"))
		wantError(t, c.Remove(t.Context(), "b"), "cgroup of pod b: in use: processes 42, 43 live in "+k.root)
		if after := len(k.tree(t, "wardlet")); after != before {
			t.Errorf("%d of %d cgroups left", after, before)
		}
	})
}

func TestEndKillsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, k := newTest(t, mountinfoV1)
		ensure(t, c, "b", burstable)
		ensure(t, c, "other", burstable)
		check(t, k.mkdir(filepath.Join(k.root, "sys/fs/cgroup", "memory/wardlet/burstable/podb/c1")))
		k.put(t, "sys/fs/cgroup/memory/wardlet/burstable/podb/c1/cgroup.procs", "0\n1\n42\n43\n")
		k.put(t, "sys/fs/cgroup/systemd/wardlet/burstable/podb/cgroup.procs", "42\n44\n")
		k.put(t, "sys/fs/cgroup/memory/wardlet/burstable/podother/cgroup.procs", "45\n")
		wantError(t, c.End(t.Context(), "b"), "processes 0, 1 live in") // these cannot be processes of a pod
		slices.Sort(k.killed)
		if diff := cmp.Diff([]int{42, 43}, k.killed); diff != "" {
			t.Errorf("killed (-want +got)\n%s", diff)
		}
		k.put(t, "sys/fs/cgroup/memory/wardlet/burstable/podb/c1/cgroup.procs", "")
		began := time.Now()
		check(t, c.End(t.Context(), "b"))
		if took := time.Since(began); took < killAfter*busyWait {
			t.Errorf("killed after %v, before it could end by itself", took)
		}
		if diff := cmp.Diff([]int{42, 43, 44}, k.killed); diff != "" {
			t.Errorf("killed (-want +got)\n%s", diff)
		}
		if left := k.tree(t, "wardlet/burstable/podb"); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestEndKillsNobodyWhereProcessesEndByThemselves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, k := newTest(t, mountinfoV2)
		ensure(t, c, "b", burstable)
		k.put(t, "sys/fs/cgroup/wardlet/burstable/podb/cgroup.procs", "42\n")
		var ending sync.WaitGroup
		ending.Go(func() {
			time.Sleep(2*busyWait + busyWait/2)
			k.put(t, "sys/fs/cgroup/wardlet/burstable/podb/cgroup.procs", "")
		})
		check(t, c.End(t.Context(), "b"))
		ending.Wait()
		if len(k.killed) != 0 {
			t.Errorf("killed: %v", k.killed)
		}
	})
}

func TestRemoveWaitsAMomentForProcessesThatEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, k := newTest(t, mountinfoV2)
		ensure(t, c, "b", burstable)
		k.put(t, "sys/fs/cgroup/wardlet/burstable/podb/cgroup.procs", "42\n")
		k.busy = 3
		var ending sync.WaitGroup
		ending.Go(func() {
			time.Sleep(200 * time.Millisecond)
			k.put(t, "sys/fs/cgroup/wardlet/burstable/podb/cgroup.procs", "")
		})
		check(t, c.Remove(t.Context(), "b"))
		ending.Wait()
		if left := k.tree(t, "wardlet/burstable/podb"); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestRemoveGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV2)
	ensure(t, c, "b", burstable)
	k.busy = 1000
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, c.Remove(ctx, "b"), "in use")
	if k.busy != 999 {
		t.Errorf("tried %d times", 1000-k.busy)
	}
}

func TestARootWithSomebodyElseInItStays(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV1)
	ensure(t, c, "b", burstable)
	k.put(t, "sys/fs/cgroup/memory/wardlet/cgroup.procs", "7\n")
	check(t, k.mkdir(filepath.Join(k.root, "sys/fs/cgroup/systemd/wardlet/other")))
	check(t, c.Remove(t.Context(), "b"))
	if !k.has("memory/wardlet") || !k.has("systemd/wardlet/other") || k.has("cpuset/wardlet") {
		t.Errorf("left: %v", k.tree(t, "wardlet"))
	}
}

func TestEnsureAndRemoveAtOnce(t *testing.T) {
	t.Parallel()
	for _, mountinfo := range []string{mountinfoV1, mountinfoV2} {
		c, k := newTest(t, mountinfo)
		var workers sync.WaitGroup
		for i := range 4 {
			workers.Go(func() {
				for range 20 {
					uid := types.UID(strconv.Itoa(i))
					if _, err := c.Ensure(newPod(uid, burstable)); err != nil {
						t.Error(err)
					}
					if err := c.Remove(t.Context(), uid); err != nil {
						t.Error(err)
					}
				}
			})
		}
		workers.Wait()
		if left := k.tree(t, "wardlet"); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	}
}
