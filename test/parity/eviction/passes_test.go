package eviction

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	clock "k8s.io/utils/clock/testing"

	"github.com/wardlet/wardlet/core/admission"
	own "github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/pod"
)

//go:linkname synchronize k8s.io/kubernetes/pkg/kubelet/eviction.(*managerImpl).synchronize
func synchronize(manager unsafe.Pointer, ctx context.Context, disks eviction.DiskInfoProvider, pods eviction.ActivePodsFunc) ([]*v1.Pod, error) //nolint:revive // a method: its receiver comes first

//go:linkname pass github.com/wardlet/wardlet/core/eviction.(*Manager).pass
func pass(manager *own.Manager, ctx context.Context) types.UID //nolint:revive // a method: its receiver comes first

// eviction of one pod, as both sides report it.
type evicted struct {
	name, message string
	grace         int64
}

// result is what a side does in one pass.
type result struct {
	conditions string
	evicted    *evicted
	reclaimed  bool
	// admits says which of the world's newcomers are admitted, and why not.
	admits string
}

func (r *result) String() string {
	text := fmt.Sprintf("conditions [%s], reclaimed %v, admits %s, evicts", r.conditions, r.reclaimed, r.admits)
	if r.evicted == nil {
		return text + " nothing"
	}
	return text + fmt.Sprintf(" %s in %d s: %s", r.evicted.name, r.evicted.grace, r.evicted.message)
}

// side is what both sides share: the world, the pass, and which pods still run.
type side struct {
	world *world
	step  *step
	pods  []*load
	after bool // the pass has reclaimed
	result
}

func (s *side) begin(at *step) { s.step, s.after, s.result = at, false, result{} }

func (s *side) active() []*v1.Pod {
	var pods []*v1.Pod
	for _, l := range s.pods {
		pods = append(pods, l.pod)
	}
	return pods
}

func (s *side) evict(p *v1.Pod, grace int64, message string) {
	s.evicted = &evicted{p.Name, message, grace}
	s.pods = slices.DeleteFunc(slices.Clone(s.pods), func(l *load) bool { return l.pod.UID == p.UID })
}

func (s *side) available(of threshold.Signal) (int64, bool) {
	if n, ok := s.step.reclaimed[of]; ok && s.after {
		return n, true
	}
	n, ok := s.step.available[of]
	return n, ok
}

// theirs is a kubelet's manager.
type theirs struct {
	side
	manager unsafe.Pointer
	shown   eviction.Manager
	admit   lifecycle.PodAdmitHandler
	clock   *clock.FakeClock
}

func newTheirs(w *world) (*theirs, error) {
	k := &theirs{side: side{world: w, pods: w.pods}, clock: clock.NewFakeClock(noon)}
	thresholds, err := eviction.ParseThresholdConfig(nil, w.settings.Hard, w.settings.Soft, texts(w.settings.SoftGracePeriod), w.settings.MinimumReclaim)
	if err != nil {
		return nil, err
	}
	kill := func(p *v1.Pod, _ bool, grace *int64, change func(*v1.PodStatus)) error {
		var st v1.PodStatus
		change(&st)
		k.evict(p, *grace, string(st.Phase)+" "+st.Reason+": "+st.Message+disruption(&st))
		return nil
	}
	k.shown, k.admit = eviction.NewManager(k, eviction.Config{
		PressureTransitionPeriod: w.transition, MaxPodGracePeriodSeconds: w.maxGrace, Thresholds: thresholds,
	}, kill, k, k, &record.FakeRecorder{}, &v1.ObjectReference{}, k.clock, false)
	k.manager = reflect.ValueOf(k.shown).UnsafePointer()
	return k, nil
}

func disruption(st *v1.PodStatus) string {
	for _, c := range st.Conditions {
		return " " + string(c.Type) + " " + c.Reason
	}
	return ""
}

func (k *theirs) pass(at *step) *result {
	k.begin(at)
	k.clock.SetTime(noon.Add(at.at))
	_, err := synchronize(k.manager, context.Background(), k, k.active)
	var conditions []string
	for name, is := range map[string]bool{"MemoryPressure": k.shown.IsUnderMemoryPressure(), "DiskPressure": k.shown.IsUnderDiskPressure(), "PIDPressure": k.shown.IsUnderPIDPressure()} {
		if is {
			conditions = append(conditions, name)
		}
	}
	slices.Sort(conditions)
	k.conditions = strings.Join(conditions, " ")
	if err != nil {
		k.conditions += err.Error()
	}
	for _, p := range k.world.newcomers {
		a := k.admit.Admit(&lifecycle.PodAdmitAttributes{Pod: p})
		k.admits += admitText(a.Admit, a.Reason, a.Message, conditions)
	}
	return &k.result
}

// admitText is the answer to a newcomer. A kubelet has several conditions in no order.
func admitText(admitted bool, reason, message string, conditions []string) string {
	if admitted {
		return "yes;"
	}
	if len(conditions) > 1 {
		message, _, _ = strings.Cut(message, "[")
	}
	return reason + " " + message + ";"
}

func (k *theirs) HasDedicatedImageFs(context.Context) (bool, error)     { return k.world.dedicated, nil }
func (k *theirs) HasDedicatedContainerFs(context.Context) (bool, error) { return false, nil }
func (k *theirs) DeleteUnusedImages(context.Context) error              { return nil }
func (k *theirs) DeleteAllUnusedContainers(context.Context) error {
	k.reclaimed, k.after = true, true
	return nil
}

func (k *theirs) GetCPUAndMemoryStats(ctx context.Context) (*statsapi.Summary, error) {
	return k.Get(ctx, true)
}

func (k *theirs) Get(context.Context, bool) (*statsapi.Summary, error) {
	s := &statsapi.Summary{}
	value := func(of threshold.Signal) *uint64 {
		if n, ok := k.available(of); ok {
			return new(uint64(n))
		}
		return nil
	}
	capacity := func(of threshold.Signal) *uint64 { return new(uint64(k.world.capacity[of])) }
	if free := value(threshold.MemoryAvailable); free != nil {
		s.Node.Memory = &statsapi.MemoryStats{AvailableBytes: free, WorkingSetBytes: new(*capacity(threshold.MemoryAvailable) - *free)}
	}
	if free := value(threshold.PIDAvailable); free != nil {
		s.Node.Rlimit = &statsapi.RlimitStats{
			MaxPID: new(k.world.capacity[threshold.PIDAvailable]), NumOfRunningProcesses: new(k.world.capacity[threshold.PIDAvailable] - int64(*free)),
		}
	}
	fs := func(space, inodes threshold.Signal) *statsapi.FsStats {
		return &statsapi.FsStats{AvailableBytes: value(space), CapacityBytes: capacity(space), InodesFree: value(inodes), Inodes: capacity(inodes)}
	}
	s.Node.Fs = fs(threshold.NodeFSAvailable, threshold.NodeFSInodesFree)
	s.Node.Runtime = &statsapi.RuntimeStats{ImageFs: fs(threshold.ImageFSAvailable, threshold.ImageFSInodesFree)}
	for _, l := range k.pods {
		if !l.unknown {
			s.Pods = append(s.Pods, l.stats())
		}
	}
	return s, nil
}

// ours is Wardlet's manager.
type ours struct {
	side
	manager *own.Manager
	now     time.Time
}

func newOurs(w *world, fault func(*own.Config)) *ours {
	o := &ours{side: side{world: w, pods: w.pods}, now: noon}
	thresholds, _ := threshold.Parse(&w.settings)
	cfg := own.Config{
		Thresholds: thresholds, Transition: w.transition, MaxPodGrace: w.maxGrace, Node: o, Pods: ourPods{o}, Reclaim: o,
		Critical: pod.Criticality{Static: true}.Critical, NodeEvent: func(string, string) {}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return o.now },
	}
	if fault != nil {
		fault(&cfg)
	}
	o.manager = own.New(cfg)
	return o
}

func (o *ours) pass(at *step) *result {
	o.begin(at)
	o.now = noon.Add(at.at)
	pass(o.manager, context.Background())
	var types []v1.NodeConditionType
	var conditions []string
	for _, c := range o.manager.Conditions() {
		types = append(types, c.Type)
		conditions = append(conditions, string(c.Type))
	}
	o.conditions = strings.Join(conditions, " ")
	for _, p := range o.world.newcomers {
		a := admission.Pressure{Critical: pod.Criticality{Static: true}, Conditions: func() []v1.NodeConditionType { return types }}.Admit(&admission.Attributes{Pod: p})
		o.admits += admitText(a.Admitted, a.Reason, a.Message, conditions)
	}
	return &o.result
}

func (o *ours) Observe(context.Context) own.Observations {
	seen := own.Observations{}
	for _, signal := range threshold.Signals() {
		if n, ok := o.available(signal); ok {
			seen[signal] = own.Observation{Available: n, Capacity: o.world.capacity[signal]}
		}
	}
	return seen
}

func (o *ours) DedicatedImageFS() bool { return o.world.dedicated }

func (o *ours) Usage(_ context.Context, _ []*v1.Pod, of threshold.Signal) map[types.UID]own.Usage {
	all := map[types.UID]own.Usage{}
	for _, l := range o.pods {
		all[l.pod.UID] = l.usage(of, o.world.dedicated)
	}
	return all
}

func (o *ours) RemoveDeadContainers(context.Context) error {
	o.reclaimed, o.after = true, true
	return nil
}

func (o *ours) RemoveUnusedImages(context.Context) error { return nil }

type ourPods struct{ *ours }

func (p ourPods) Active() []*v1.Pod { return p.active() }

func (p ourPods) Evict(one *v1.Pod, grace int64, message string, _ map[string]string) {
	// core/agent sets the rest of the status by the function that preemption uses, too.
	p.evict(one, grace, "Failed Evicted: "+message+" DisruptionTarget TerminationByKubelet")
}

func (p ourPods) CleanedUp(types.UID) bool { return true }
