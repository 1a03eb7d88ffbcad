package eviction

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	own "github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/pod"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a node with its thresholds, its pods, and what happens to it.
type world struct {
	settings   threshold.Settings
	transition time.Duration
	maxGrace   int64
	dedicated  bool
	capacity   map[threshold.Signal]int64
	pods       []*load
	// newcomers ask for admission after each pass.
	newcomers []*v1.Pod
	steps     []step
}

// step is the state of the node in a pass. Signals that cannot be read are missing. reclaimed is the
// state after dead containers were removed, as far as it differs.
type step struct {
	at                   time.Duration
	available, reclaimed map[threshold.Signal]int64
}

// amounts are bytes and inodes.
type amounts struct{ bytes, inodes int64 }

// load is a pod with its usage.
type load struct {
	pod *v1.Pod
	// unknown: there are no statistics of the pod.
	unknown           bool
	memory, processes int64
	volume            amounts
	containers        []containerLoad
}

type containerLoad struct {
	name        string
	memory      int64
	layer, logs amounts
}

// worldOf makes a world. At most one signal beside memory has a threshold: a kubelet takes several
// in no order.
func worldOf(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 2))
	w := &world{
		transition: time.Duration(1+r.IntN(60)) * time.Second, maxGrace: int64(r.IntN(3) * 20), dedicated: r.IntN(2) == 0,
		settings: threshold.Settings{Hard: map[string]string{}, Soft: map[string]string{}, MinimumReclaim: map[string]string{}, SoftGracePeriod: map[string]time.Duration{}},
		capacity: map[threshold.Signal]int64{
			threshold.MemoryAvailable: 8<<30 + r.Int64N(1000), threshold.NodeFSAvailable: 100<<30 + r.Int64N(1000), threshold.ImageFSAvailable: 50<<30 + r.Int64N(1000),
			threshold.NodeFSInodesFree: 1e6 + r.Int64N(1000), threshold.ImageFSInodesFree: 5e5 + r.Int64N(1000), threshold.PIDAvailable: 30000 + r.Int64N(1000),
		},
	}
	var used []threshold.Signal
	if r.IntN(4) > 0 {
		used = append(used, threshold.MemoryAvailable)
	}
	if r.IntN(4) > 0 {
		used = append(used, threshold.Signals()[1+r.IntN(5)])
	}
	for _, signal := range used {
		w.threshold(r, signal)
	}
	requestsStorage := len(used) == 0 || used[len(used)-1] != threshold.NodeFSInodesFree && used[len(used)-1] != threshold.ImageFSInodesFree
	unknown := -1
	if r.IntN(3) == 0 {
		unknown = r.IntN(10)
	}
	for i := range r.IntN(9) {
		l := loadOf(r, i, requestsStorage)
		l.unknown = i == unknown
		w.pods = append(w.pods, l)
	}
	for i := range 3 {
		w.newcomers = append(w.newcomers, loadOf(r, 100+i, true).pod)
	}
	var at time.Duration
	for range 3 + r.IntN(6) {
		at += time.Duration(1+r.IntN(25)) * time.Second
		s := step{at: at, available: map[threshold.Signal]int64{}, reclaimed: map[threshold.Signal]int64{}}
		for _, signal := range threshold.Signals() {
			if r.IntN(15) == 0 {
				continue
			}
			// Most values are near the thresholds, which are up to a fifth of the capacity.
			s.available[signal] = r.Int64N(w.capacity[signal] / int64(1+r.IntN(8)))
			if r.IntN(2) == 0 {
				s.reclaimed[signal] = min(s.available[signal]+r.Int64N(w.capacity[signal]/3), w.capacity[signal])
			}
		}
		w.steps = append(w.steps, s)
	}
	return w
}

// threshold adds a hard or a soft threshold.
func (w *world) threshold(r *rand.Rand, signal threshold.Signal) {
	value := func(most int) string {
		if r.IntN(2) == 0 {
			return fmt.Sprintf("%d%%", 1+r.IntN(most))
		}
		return resource.NewQuantity(1+r.Int64N(w.capacity[signal]*int64(most)/100), resource.BinarySI).String()
	}
	table := w.settings.Hard
	if r.IntN(3) == 0 {
		table = w.settings.Soft
		w.settings.SoftGracePeriod[string(signal)] = time.Duration(1+r.IntN(40)) * time.Second
	}
	table[string(signal)] = value(20)
	if r.IntN(2) == 0 {
		w.settings.MinimumReclaim[string(signal)] = value(10)
	}
}

// loadOf makes a pod. The last digits of all usages differ between pods.
func loadOf(r *rand.Rand, i int, requestsStorage bool) *load {
	unlike := func(most int64) int64 { return r.Int64N(most)/1000*1000 + int64(i) }
	l := &load{
		memory: unlike(4 << 30), processes: unlike(8000), volume: amounts{unlike(20 << 30), unlike(50000)},
		pod: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod-" + strconv.Itoa(i), UID: types.UID(strconv.Itoa(i))}},
	}
	p := l.pod
	switch r.IntN(12) {
	case 0:
		p.Annotations = map[string]string{pod.AnnotationSource: "file"}
	case 1:
		p.Spec.Priority = new(int32(2_000_000_000))
	default:
		p.Annotations = map[string]string{pod.AnnotationSource: pod.SourceAPI}
		p.Spec.Priority = new(int32(r.IntN(3)))
	}
	if r.IntN(2) == 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(r.IntN(60)))
	}
	if r.IntN(4) == 0 {
		key := []string{"", v1.TaintNodeMemoryPressure, v1.TaintNodeDiskPressure}[r.IntN(3)]
		effect := []v1.TaintEffect{"", v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute}[r.IntN(3)]
		p.Spec.Tolerations = []v1.Toleration{{Key: key, Operator: v1.TolerationOpExists, Effect: effect}}
	}
	p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
	requests := func() v1.ResourceList {
		list := v1.ResourceList{}
		if r.IntN(2) == 0 {
			list[v1.ResourceMemory] = *resource.NewQuantity(r.Int64N(3<<30), resource.BinarySI)
		}
		if requestsStorage && r.IntN(2) == 0 {
			list[v1.ResourceEphemeralStorage] = *resource.NewQuantity(r.Int64N(30<<30), resource.BinarySI)
		}
		if r.IntN(3) == 0 {
			list[v1.ResourceCPU] = resource.MustParse("10m")
		}
		return list
	}
	container := func(name string) v1.Container {
		l.containers = append(l.containers, containerLoad{name, unlike(3 << 30), amounts{unlike(10 << 30), unlike(9000)}, amounts{unlike(5 << 30), unlike(50)}})
		return v1.Container{Name: name, Resources: v1.ResourceRequirements{Requests: requests()}}
	}
	if r.IntN(3) == 0 {
		p.Spec.InitContainers = append(p.Spec.InitContainers, container("init"))
		if r.IntN(2) == 0 {
			p.Spec.InitContainers[0].RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		}
	}
	for c := range 1 + r.IntN(2) {
		p.Spec.Containers = append(p.Spec.Containers, container(fmt.Sprint("main-", c)))
	}
	if r.IntN(6) == 0 {
		p.Spec.Overhead = requests()
	}
	if r.IntN(8) == 0 {
		p.Spec.Resources = &v1.ResourceRequirements{Requests: requests()}
	}
	return l
}

// stats returns the usage as a kubelet has it.
func (l *load) stats() statsapi.PodStats {
	fs := func(a amounts) *statsapi.FsStats {
		return &statsapi.FsStats{UsedBytes: new(uint64(a.bytes)), InodesUsed: new(uint64(a.inodes))}
	}
	s := statsapi.PodStats{
		PodRef: statsapi.PodReference{UID: string(l.pod.UID)}, Memory: &statsapi.MemoryStats{WorkingSetBytes: new(uint64(l.memory))},
		ProcessStats: &statsapi.ProcessStats{ProcessCount: new(uint64(l.processes))},
		VolumeStats:  []statsapi.VolumeStats{{Name: "data", FsStats: *fs(l.volume)}},
	}
	for _, c := range l.containers {
		s.Containers = append(s.Containers, statsapi.ContainerStats{
			Name: c.name, Memory: &statsapi.MemoryStats{WorkingSetBytes: new(uint64(c.memory))}, Rootfs: fs(c.layer), Logs: fs(c.logs),
		})
	}
	return s
}

// usage returns the usage as eviction.Machine counts it.
func (l *load) usage(of threshold.Signal, dedicated bool) own.Usage {
	if l.unknown {
		return own.Usage{Unknown: true}
	}
	u := own.Usage{Containers: map[string]int64{}}
	count := func(a amounts) int64 { return a.bytes }
	switch of {
	case threshold.MemoryAvailable:
		u.Total = l.memory
		for _, c := range l.containers {
			u.Containers[c.name] = c.memory
		}
		return u
	case threshold.PIDAvailable:
		return own.Usage{Total: l.processes}
	case threshold.NodeFSInodesFree, threshold.ImageFSInodesFree:
		count = func(a amounts) int64 { return a.inodes }
	}
	ofImages := of == threshold.ImageFSAvailable || of == threshold.ImageFSInodesFree
	for _, c := range l.containers {
		u.Containers[c.name] = count(c.layer) + count(c.logs)
		if !dedicated || ofImages {
			u.Total += count(c.layer)
		}
		if !dedicated || !ofImages {
			u.Total += count(c.logs)
		}
	}
	if !dedicated || !ofImages {
		u.Total += count(l.volume)
	}
	return u
}
