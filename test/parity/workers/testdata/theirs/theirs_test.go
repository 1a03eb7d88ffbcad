package workers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	"k8s.io/kubernetes/pkg/kubelet/container"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
	"k8s.io/utils/clock"
)

// syncer is what a kubelet's workers call.
type syncer interface {
	SyncPod(ctx context.Context, kind kubetypes.SyncPodType, p, mirror *v1.Pod, st *container.PodStatus) (bool, func(), error)
	SyncTerminatingPod(ctx context.Context, p *v1.Pod, st *container.PodStatus, grace *int64, change func(*v1.PodStatus)) error
	SyncTerminatingRuntimePod(ctx context.Context, p *container.Pod) error
	SyncTerminatedPod(ctx context.Context, p *v1.Pod, st *container.PodStatus) error
}

//go:linkname newPodWorkers k8s.io/kubernetes/pkg/kubelet.newPodWorkers
func newPodWorkers(
	s syncer, events record.EventRecorder, due queue.WorkQueue, resync, backOff time.Duration,
	cache container.ROCache, allocated allocation.Manager,
) kubelet.PodWorkers

// TestServe plays one history per line of its input and writes, one per line,
// what was seen after each of its steps.
func TestServe(t *testing.T) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var steps []Step
		if err := json.Unmarshal(in.Bytes(), &steps); err != nil {
			t.Fatal(err)
		}
		var looks []Look
		synctest.Test(t, func(t *testing.T) { looks = play(t, steps) })
		text, err := json.Marshal(looks)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("looks %s\n", text)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// theirs are a kubelet's workers on a world.
type theirs struct {
	*world
	ctx     context.Context
	workers kubelet.PodWorkers
}

func play(t *testing.T, steps []Step) []Look {
	side := &theirs{world: newWorld(), ctx: klog.NewContext(t.Context(), logr.Discard())}
	side.workers = newPodWorkers(side, &record.FakeRecorder{}, queue.NewBasicWorkQueue(clock.RealClock{}),
		time.Minute, 10*time.Second, readCache{side.world}, allocations{})
	uids := podsOf(steps)
	var looks []Look
	for _, s := range steps {
		look := Look{Pods: map[types.UID]Seen{}}
		for i := range s {
			side.apply(&s[i], &look)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		for _, uid := range uids {
			look.Pods[uid] = side.seen(uid)
		}
		looks = append(looks, look)
	}
	side.drain(t)
	return looks
}

// drain ends all pods, so that no worker is left.
func (s *theirs) drain(t *testing.T) {
	s.release()
	for range 20 {
		time.Sleep(time.Second)
		synctest.Wait()
		if len(s.workers.SyncKnownPods(logr.Discard(), nil)) == 0 {
			synctest.Wait()
			return
		}
	}
	t.Error("workers are left")
}

func (s *theirs) apply(op *Op, look *Look) {
	kinds := map[string]kubetypes.SyncPodType{
		doCreate: kubetypes.SyncPodCreate, doUpdate: kubetypes.SyncPodUpdate, doSync: kubetypes.SyncPodSync, doKill: kubetypes.SyncPodKill,
	}
	switch op.Do {
	case doStray:
		at := s.read(op.UID)
		running := &container.Pod{ID: op.UID, Name: at.name, Namespace: "default"}
		s.workers.UpdatePod(s.ctx, kubelet.UpdatePodOptions{UpdateType: kubetypes.SyncPodKill, RunningPod: running})
	case doAppear:
		s.start(op.UID, string(op.UID))
	case doExit:
		s.exit(op.UID)
	case doSet:
		s.set(op.UID, op.Call, op.Mode)
	case doKnown:
		var wanted []*v1.Pod
		for _, uid := range op.Wanted {
			wanted = append(wanted, (&Version{}).Object(uid))
		}
		look.Known = map[types.UID]string{}
		for uid, state := range s.workers.SyncKnownPods(logr.Discard(), wanted) {
			look.Known[uid] = state.State.String()
		}
	default:
		options := kubelet.UpdatePodOptions{UpdateType: kinds[op.Do], Pod: op.Pod.Object(op.UID)}
		if op.Do == doKill {
			options.KillPodOptions = &kubelet.KillPodOptions{Evict: op.Evict, PodTerminationGracePeriodSecondsOverride: op.Grace}
			if op.Mark != "" {
				options.KillPodOptions.PodStatusFunc = func(st *v1.PodStatus) { st.Message = op.Mark }
			}
		}
		s.workers.UpdatePod(s.ctx, options)
	}
}

func (s *theirs) seen(uid types.UID) Seen {
	out, w := s.look(uid), s.workers
	out.KnownTerminated, out.CouldRun = w.IsPodKnownTerminated(uid), w.CouldHaveRunningContainers(uid)
	out.Finished, out.TerminationRequested = w.ShouldPodBeFinished(uid), w.IsPodTerminationRequested(uid)
	out.ContainersTerminating = w.ShouldPodContainersBeTerminating(uid)
	out.RuntimeRemovable, out.ContentRemovable = w.ShouldPodRuntimeBeRemoved(uid), w.ShouldPodContentBeRemoved(uid)
	return out
}

func (s *theirs) SyncPod(ctx context.Context, _ kubetypes.SyncPodType, p, _ *v1.Pod, _ *container.PodStatus) (bool, func(), error) {
	if at := s.read(p.UID); p.Spec.RestartPolicy == v1.RestartPolicyNever && at.dead {
		return true, nil, nil
	}
	if err := s.tryToSetUp(ctx, p.UID); err != nil {
		return false, nil, err
	}
	s.start(p.UID, p.Name)
	return false, nil, nil
}

func (s *theirs) SyncTerminatingPod(
	ctx context.Context, p *v1.Pod, _ *container.PodStatus, grace *int64, change func(*v1.PodStatus),
) error {
	if at := s.read(p.UID); at.runs {
		var st v1.PodStatus
		if change != nil {
			change(&st)
		}
		if err := s.stop(ctx, p.UID, handed(p, grace), st.Message); err != nil {
			return err
		}
	}
	s.stopSandbox(p.UID)
	return nil
}

// handed is the period that a pod gets which no request gave one: its own.
func handed(p *v1.Pod, grace *int64) int64 {
	seconds := int64(0)
	for _, g := range []*int64{p.Spec.TerminationGracePeriodSeconds, p.DeletionGracePeriodSeconds, grace} {
		if g != nil {
			seconds = *g
		}
	}
	return max(seconds, 1)
}

func (s *theirs) SyncTerminatingRuntimePod(ctx context.Context, p *container.Pod) error {
	if at := s.read(p.ID); at.runs {
		if err := s.stop(ctx, p.ID, 1, ""); err != nil {
			return err
		}
	}
	s.forget(p.ID)
	return nil
}

func (s *theirs) SyncTerminatedPod(ctx context.Context, p *v1.Pod, _ *container.PodStatus) error {
	if err := s.call(ctx, p.UID, callClean); err != nil {
		return err
	}
	s.forget(p.UID)
	return nil
}

// readCache is always new.
type readCache struct{ *world }

func (c readCache) Get(uid types.UID) (*container.PodStatus, error) {
	p := c.read(uid)
	st := &container.PodStatus{ID: uid, Name: p.name, Namespace: "default"}
	if p.runs {
		st.ContainerStatuses = []*container.Status{{Name: "main", State: container.ContainerStateRunning}}
	}
	if p.sandbox {
		st.SandboxStatuses = []*runtimeapi.PodSandboxStatus{{State: runtimeapi.PodSandboxState_SANDBOX_READY}}
	}
	return st, nil
}

func (c readCache) GetNewerThan(uid types.UID, _ time.Time) (*container.PodStatus, error) {
	return c.Get(uid)
}

// allocations leaves every pod as it is. Workers call nothing else of it.
type allocations struct{ allocation.Manager }

func (allocations) UpdatePodFromAllocation(p *v1.Pod) (*v1.Pod, bool) { return p, false }
