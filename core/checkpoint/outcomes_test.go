package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// outcomeFiles is a disk in memory that counts the writes.
type outcomeFiles struct {
	mu     sync.Mutex
	files  map[types.UID]state.Outcome
	writes int
	err    error
}

func (f *outcomeFiles) Apply(put []state.Outcome, remove []types.UID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if f.err != nil {
		return f.err
	}
	for i := range put {
		f.files[put[i].UID] = put[i]
	}
	for _, uid := range remove {
		delete(f.files, uid)
	}
	return nil
}

func (f *outcomeFiles) Load() ([]state.Outcome, []error) {
	return slices.Collect(maps.Values(f.files)), nil
}

// on returns the stored outcome of a pod, and the number of writes to the disk.
func (f *outcomeFiles) on(uid types.UID) (o state.Outcome, known bool, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, known = f.files[uid]
	return o, known, f.writes
}

// outcomeRun is a running Outcomes in a synctest bubble.
type outcomeRun struct {
	*Outcomes
	files *outcomeFiles
	// unwanted are the pods that no source wants. busy are the pods whose outcome must stay
	// even so.
	mu             sync.Mutex
	unwanted, busy map[types.UID]bool
	// seen is true once all sources have delivered. Until then, only the source static has.
	seen bool
	log  bytes.Buffer
	stop func()
}

func runOutcomes(t *testing.T, kept ...state.Outcome) *outcomeRun {
	t.Helper()
	r := &outcomeRun{files: &outcomeFiles{files: map[types.UID]state.Outcome{}}, unwanted: map[types.UID]bool{}, busy: map[types.UID]bool{}}
	for _, o := range kept {
		r.files.files[o.UID] = o
	}
	r.Outcomes = NewOutcomes(r.files, slog.New(slog.NewTextHandler(&r.log, nil)))
	r.Wanted = func(uid types.UID) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return !r.unwanted[uid]
	}
	r.Removable = func(uid types.UID, source string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.unwanted[uid] && !r.busy[uid] && (r.seen || source == "static")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var works sync.WaitGroup
	works.Go(func() {
		if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("run ended with %v", err)
		}
	})
	r.stop = func() { cancel(); works.Wait() }
	t.Cleanup(r.stop)
	return r
}

// now calls change, which may edit unwanted, busy and seen.
func (r *outcomeRun) now(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// expect checks the stored phase and restart count of the pod u1, "" and 0 for no file, and the
// number of writes.
func (r *outcomeRun) expect(t *testing.T, when string, phase v1.PodPhase, restarts int32, writes int) {
	t.Helper()
	o, known, wrote := r.files.on("u1")
	got, has := int32(0), len(o.Status.ContainerStatuses) > 0
	if has {
		got = o.Status.ContainerStatuses[0].RestartCount
	}
	if o.Status.Phase != phase || got != restarts || wrote != writes || known != (phase != "" || restarts > 0) {
		t.Errorf("%s: file %v, phase %q, %d restarts, %d writes; want phase %q, %d restarts, %d writes",
			when, known, o.Status.Phase, got, wrote, phase, restarts, writes)
	}
}

func outcomePod(hash string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "default", UID: "u1",
			Annotations: map[string]string{pod.AnnotationSource: "static", pod.AnnotationHash: hash},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main"}}},
	}
}

// fares returns the status of a pod with one container.
func fares(phase v1.PodPhase, restarts int32) *v1.PodStatus {
	c := v1.ContainerStatus{Name: "main", RestartCount: restarts, ContainerID: "containerd://c"}
	if pod.IsTerminal(phase) {
		c.State.Terminated = &v1.ContainerStateTerminated{FinishedAt: metav1.NewTime(time.Unix(1700000000, 5))}
	}
	return &v1.PodStatus{Phase: phase, ContainerStatuses: []v1.ContainerStatus{c}}
}

func kept(t *testing.T, p *v1.Pod, st *v1.PodStatus) state.Outcome {
	t.Helper()
	instance, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	if !pod.IsStatic(p) {
		instance = ""
	}
	return state.Outcome{
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, Source: p.Annotations[pod.AnnotationSource], Instance: instance,
		Status: status.Outcome(p, st),
	}
}

func TestAnEndIsOnTheDiskAtOnceAndWrittenOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), outcomePod("h")
		r.Save(p, fares(v1.PodSucceeded, 0))
		r.expect(t, "at once", v1.PodSucceeded, 0, 1)
		if diff := cmp.Diff(kept(t, p, fares(v1.PodSucceeded, 0)), r.files.files["u1"]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		r.Save(p, fares(v1.PodSucceeded, 0))
		r.Save(p, fares(v1.PodRunning, 0))
		time.Sleep(time.Minute)
		r.expect(t, "later", v1.PodSucceeded, 0, 1)
	})
}

func TestOnlyAPodOfWhichTheEndIsKnownHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p, newer := runOutcomes(t), outcomePod("h"), outcomePod("i")
		ended := func(when string, want bool) {
			t.Helper()
			if got := r.Ended(p); got != want || r.Ended(newer) {
				t.Errorf("%s: it has ended: %v, another pod of its UID: %v", when, got, r.Ended(newer))
			}
		}
		ended("nothing is known", false)
		r.Save(p, fares(v1.PodRunning, 1))
		ended("it runs", false)
		r.Save(p, fares(v1.PodSucceeded, 1))
		ended("it has succeeded", true)
		r.Forget("u1")
		ended("it is gone, and may come back", false)
	})
}

func TestRestartCountsAreWrittenOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), outcomePod("h")
		r.Save(p, fares(v1.PodRunning, 0))
		time.Sleep(time.Minute)
		r.expect(t, "a pod that runs", "", 0, 0)
		for i := range int32(5) {
			r.Save(p, fares(v1.PodRunning, i))
			r.Save(p, fares(v1.PodPending, i))
		}
		r.expect(t, "before a second has gone", "", 0, 0)
		time.Sleep(outcomeBatch)
		synctest.Wait()
		r.expect(t, "after a second", "", 4, 1)
		r.Save(p, fares(v1.PodRunning, 4))
		r.Save(p, fares(v1.PodRunning, 2)) // the runtime has lost its newest container
		time.Sleep(time.Minute)
		r.expect(t, "when nothing rises", "", 4, 1)
		r.Save(p, fares(v1.PodRunning, 5))
		r.stop()
		r.expect(t, "when the agent ends", "", 5, 2)
	})
}

// TestOutcomes_whatProbesFindIsWrittenAtOnce checks that a change of readiness is stored at
// once, so that the next agent has it even if it starts soon.
func TestOutcomes_whatProbesFindIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), outcomePod("h")
		p.Spec.Containers[0].ReadinessProbe = &v1.Probe{}
		st := fares(v1.PodRunning, 0)
		st.ContainerStatuses[0].State.Running, st.ContainerStatuses[0].Started = &v1.ContainerStateRunning{}, new(true)
		for i, ready := range []bool{false, true, true, false} {
			st.ContainerStatuses[0].Ready = ready
			r.Save(p, st)
			o, _, writes := r.files.on("u1")
			if len(o.Status.ContainerStatuses) != 1 || o.Status.ContainerStatuses[0].Ready != ready || writes != []int{1, 2, 2, 3}[i] {
				t.Errorf("ready %t: the disk has %+v after %d writes", ready, o.Status.ContainerStatuses, writes)
			}
		}
	})
}

// TestOutcomes_aProbeDoesNotUndoAnEnd checks that a status saved by a probe does not replace a
// terminal status that a worker saves at the same time.
func TestOutcomes_aProbeDoesNotUndoAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), outcomePod("h")
		p.Spec.Containers[0].ReadinessProbe = &v1.Probe{}
		wanted, first := r.Wanted, true
		r.Wanted = func(uid types.UID) bool {
			if first {
				first = false
				r.Save(p, fares(v1.PodSucceeded, 1)) // the worker saves while the probe does
			}
			return wanted(uid)
		}
		st := fares(v1.PodRunning, 1)
		st.ContainerStatuses[0].State.Running, st.ContainerStatuses[0].Ready = &v1.ContainerStateRunning{}, true
		r.Save(p, st)
		if !r.Ended(p) {
			t.Error("the pod has ended, and that is not kept")
		}
		r.expect(t, "after both", v1.PodSucceeded, 1, 1)
	})
}

func TestARestartCountNeverFalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := outcomePod("h")
		r := runOutcomes(t, kept(t, p, fares(v1.PodRunning, 7)))
		r.Save(p, fares(v1.PodFailed, 1))
		r.expect(t, "an end", v1.PodFailed, 7, 1)
	})
}

func TestWhatWasKeptCountsForTheSamePodOnly(t *testing.T) {
	t.Parallel()
	labelled := func(p *v1.Pod) *v1.Pod { p.Labels = map[string]string{"new": "label"}; return p }
	api := func(p *v1.Pod) *v1.Pod {
		p.Annotations = map[string]string{pod.AnnotationSource: pod.SourceAPI}
		return p
	}
	of := func(uid types.UID) *v1.Pod {
		p := outcomePod("h")
		p.UID = uid
		return p
	}
	for name, tc := range map[string]struct {
		had, has *v1.Pod
		want     bool
	}{
		"the same pod":                             {outcomePod("h"), outcomePod("h"), true},
		"an edited manifest with a fixed UID":      {outcomePod("h"), outcomePod("i"), false},
		"a manifest with the UID of an API pod":    {api(outcomePod("h")), outcomePod("h"), false},
		"an API pod that was labelled meanwhile":   {api(outcomePod("h")), labelled(api(outcomePod("h"))), true},
		"a pod of another UID":                     {outcomePod("h"), of("u2"), false},
		"an API pod with the UID of another's one": {api(outcomePod("h")), api(of("u2")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := runOutcomes(t, kept(t, tc.had, fares(v1.PodSucceeded, 3)))
				st, known := r.Saved(tc.has)
				if known != tc.want || known && (st.Phase != v1.PodSucceeded || st.ContainerStatuses[0].RestartCount != 3) {
					t.Errorf("known %v, %+v", known, st)
				}
				if _, again := r.Saved(tc.has); again {
					t.Error("a new life of the pod begins with the outcome of an old one")
				}
				time.Sleep(time.Minute)
				if _, onDisk, _ := r.files.on("u1"); onDisk != (tc.want || tc.has.UID != "u1") {
					t.Errorf("on the disk: %v", onDisk)
				}
			})
		})
	}
}

func TestWhatIsKeptGoesWithThePod(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then func(r *outcomeRun, p *v1.Pod)
		left bool
	}{
		"it is there while the pod is": {func(*outcomeRun, *v1.Pod) {}, true},
		"the pod is gone":              {func(r *outcomeRun, _ *v1.Pod) { r.Forget("u1") }, false},
		"nobody wants it while it is being ended": {func(r *outcomeRun, p *v1.Pod) {
			r.now(func() { r.unwanted["u1"] = true })
			r.Save(p, fares(v1.PodFailed, 2))
		}, false},
		"it is gone, and begins anew": {func(r *outcomeRun, p *v1.Pod) {
			r.Forget("u1")
			if _, known := r.Saved(p); !known {
				r.Save(p, fares(v1.PodRunning, 1))
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, p := runOutcomes(t), outcomePod("h")
				r.Save(p, fares(v1.PodRunning, 2))
				time.Sleep(time.Minute)
				tc.then(r, p)
				time.Sleep(time.Minute)
				if _, left, _ := r.files.on("u1"); left != tc.left {
					t.Errorf("left: %v", left)
				}
			})
		})
	}
}

func TestOutcomesAreReadAtTheStart(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	p := outcomePod("h")
	for range 2 { // the second one starts with what the first has stored
		o := NewOutcomes(dir.Outcomes(), slog.New(slog.DiscardHandler))
		o.Wanted = func(types.UID) bool { return true }
		o.Save(p, fares(v1.PodSucceeded, 1))
	}
	o := NewOutcomes(dir.Outcomes(), slog.New(slog.DiscardHandler))
	st, known := o.Saved(p)
	if diff := cmp.Diff(status.Outcome(p, fares(v1.PodSucceeded, 1)), st); !known || diff != "" {
		t.Errorf("known %v (-want +got)\n%s", known, diff)
	}
}

// TestOutcomes_ofAReadinessThatComesAndGoes checks that a readiness that changes often is
// stored only a few times a minute, and then with its latest value.
func TestOutcomes_ofAReadinessThatComesAndGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := runOutcomes(t)
		p := outcomePod("h")
		p.Spec.Containers[0].ReadinessProbe = &v1.Probe{}
		r.Track(p, time.Now(), false)
		save := func(ready bool) {
			st := fares(v1.PodRunning, 0)
			st.ContainerStatuses[0].State.Running = &v1.ContainerStateRunning{}
			st.ContainerStatuses[0].ContainerID, st.ContainerStatuses[0].Ready = "containerd://c1", ready
			r.Save(p, st)
		}
		save(false)
		time.Sleep(outcomeBatch)
		_, _, before := r.files.on(p.UID)
		for i := range 60 {
			save(i%2 == 0)
			time.Sleep(time.Second)
		}
		if _, _, after := r.files.on(p.UID); after != before+maxFlips {
			t.Errorf("%d writes in a minute", after-before)
		}
		save(true)
		kept, _ := r.kept.Get(p.UID)
		if _, _, after := r.files.on(p.UID); after > before+maxFlips+1 || !kept.Status.ContainerStatuses[0].Ready {
			t.Errorf("a minute later %d writes, and it is kept as %+v", after-before, kept.Status.ContainerStatuses)
		}
	})
}
