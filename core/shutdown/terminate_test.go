package shutdown

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
)

// fakePods are pods that stop after a while and release their volumes later. Its lines say what
// happened when.
type fakePods struct {
	began time.Time

	mu       sync.Mutex
	pods     map[types.UID]*fakePod
	order    []*v1.Pod
	lines    []string
	statuses map[types.UID]v1.PodStatus
}

type fakePod struct {
	// stops and releases are the times from the request until the containers have stopped, and from
	// then until nothing is left.
	stops, releases time.Duration
	// phase is the phase when the containers have stopped.
	phase             v1.PodPhase
	stopped, released bool
}

func newPods() *fakePods {
	return &fakePods{began: time.Now(), pods: map[types.UID]*fakePod{}, statuses: map[types.UID]v1.PodStatus{}}
}

// add adds a pod with a priority and a grace period in seconds, less than 0 for none.
func (f *fakePods) add(name string, priority int32, grace int64, p *fakePod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	about := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: v1.PodSpec{Priority: &priority}}
	if grace >= 0 {
		about.Spec.TerminationGracePeriodSeconds = &grace
	}
	f.pods[about.UID] = p
	f.order = append(f.order, about)
}

func (f *fakePods) Active() (active []*v1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.order {
		if !f.pods[p.UID].stopped {
			active = append(active, p)
		}
	}
	return active
}

func (f *fakePods) Terminate(p *v1.Pod, grace time.Duration, finish func(*v1.PodStatus)) <-chan struct{} {
	f.tell("%s terminates within %s", p.Name, grace)
	f.mu.Lock()
	defer f.mu.Unlock()
	about := f.pods[p.UID]
	stopped := make(chan struct{})
	time.AfterFunc(about.stops, func() {
		st := v1.PodStatus{Phase: about.phase}
		finish(&st)
		f.mu.Lock()
		about.stopped, about.released, f.statuses[p.UID] = true, about.releases == 0, st
		f.mu.Unlock()
		close(stopped)
		if about.releases == 0 {
			return
		}
		time.AfterFunc(about.releases, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			about.released = true
		})
	})
	return stopped
}

func (f *fakePods) Released(uid types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pods[uid].released
}

func (f *fakePods) status(uid types.UID) v1.PodStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.statuses[uid]
}

// tell adds a line with the time since the beginning.
func (f *fakePods) tell(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, time.Since(f.began).String()+" "+fmt.Sprintf(format, args...))
}

// memory keeps times in memory.
type memory struct {
	mu   sync.Mutex
	last state.Shutdown
	all  []state.Shutdown
}

func (m *memory) Load() (state.Shutdown, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, nil
}

func (m *memory) Store(s state.Shutdown) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.all = s, append(m.all, s)
	return nil
}

func newManager(pods Pods, periods ...Period) (*Manager, *memory) {
	times := &memory{}
	return New(Config{
		Periods: periods, Pods: pods, Times: times, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Priority: func(p *v1.Pod) int32 { return *p.Spec.Priority },
	}), times
}

const sec = time.Second

func TestTerminatePods(t *testing.T) {
	t.Parallel()
	twoGroups := []Period{{Priority: 0, Period: 20 * sec}, {Priority: 2_000_000_000, Period: 10 * sec}}
	for name, test := range map[string]struct {
		periods []Period
		pods    func(f *fakePods)
		want    []string
	}{
		"critical pods follow when the others are done": {twoGroups, func(f *fakePods) {
			f.add("dns", 2_000_000_000, 30, &fakePod{stops: sec})
			f.add("web", 0, 5, &fakePod{stops: 2 * sec})
			f.add("job", 7, 30, &fakePod{stops: 3 * sec})
		}, []string{
			"0s web terminates within 5s", "0s job terminates within 20s", "3s dns terminates within 10s", "4s end",
		}},
		"the next group does not wait for longer than the period": {twoGroups, func(f *fakePods) {
			f.add("web", 0, 60, &fakePod{stops: time.Hour})
			f.add("dns", 2_000_000_000, 3, &fakePod{stops: time.Hour})
		}, []string{"0s web terminates within 20s", "20s dns terminates within 3s", "30s end"}},
		"volumes are part of the time": {twoGroups, func(f *fakePods) {
			f.add("web", 0, 1, &fakePod{stops: sec, releases: 250 * time.Millisecond})
			f.add("dns", 2_000_000_000, 1, &fakePod{stops: sec, releases: time.Hour})
		}, []string{"0s web terminates within 1s", "1.3s dns terminates within 1s", "11.3s end"}},
		"a group without pods takes no time": {twoGroups, func(f *fakePods) {
			f.add("dns", 2_000_000_000, 1, &fakePod{stops: sec})
		}, []string{"0s dns terminates within 1s", "1s end"}},
		"no pods": {twoGroups, func(*fakePods) {}, []string{"0s end"}},
		"a pod without a grace period has that of its group": {twoGroups, func(f *fakePods) {
			f.add("web", 0, -1, &fakePod{stops: sec})
		}, []string{"0s web terminates within 20s", "1s end"}},
		"a period of 0 s does not wait": {[]Period{{Priority: 0, Period: 0}, {Priority: 5, Period: sec}}, func(f *fakePods) {
			f.add("web", 0, 30, &fakePod{stops: time.Hour})
			f.add("db", 5, 0, &fakePod{stops: 0})
		}, []string{"0s web terminates within 0s", "0s db terminates within 0s", "0s end"}},
		"a pod of a lower group that has started since": {twoGroups, func(f *fakePods) {
			f.add("web", 0, 9, &fakePod{stops: 3 * sec})
			f.add("dns", 2_000_000_000, 9, &fakePod{stops: sec})
			time.AfterFunc(2*sec, func() { f.add("late", 0, 30, &fakePod{stops: sec}) })
		}, []string{"0s web terminates within 9s", "3s dns terminates within 9s", "3s late terminates within 10s", "4s end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pods := newPods()
				test.pods(pods)
				m, times := newManager(pods, test.periods...)
				m.terminatePods(t.Context())
				pods.tell("end")
				if diff := cmp.Diff(test.want, pods.lines); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				now := time.Now()
				if want := []state.Shutdown{{Began: pods.began}, {Began: pods.began, Ended: now}}; !cmp.Equal(times.all, want) {
					t.Errorf("times %v, want %v", times.all, want)
				}
				time.Sleep(3 * time.Hour) // the timers of pods that were not awaited
			})
		})
	}
}

func TestTerminatePods_status(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pods := newPods()
		pods.add("web", 0, 1, &fakePod{phase: v1.PodRunning})
		pods.add("job", 0, 1, &fakePod{phase: v1.PodSucceeded})
		m, _ := newManager(pods, Period{Period: sec})
		m.terminatePods(t.Context())
		for uid, phase := range map[types.UID]v1.PodPhase{"web": v1.PodFailed, "job": v1.PodSucceeded} {
			st := pods.statuses[uid]
			if len(st.Conditions) != 1 {
				t.Fatalf("%s: conditions %v", uid, st.Conditions)
			}
			st.Conditions[0].LastTransitionTime = metav1.Time{}
			want := v1.PodStatus{
				Phase: phase, Reason: "Terminated", Message: "Pod was terminated in response to imminent node shutdown.",
				Conditions: []v1.PodCondition{{
					Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "TerminationByKubelet",
					Message: "Pod was terminated in response to imminent node shutdown.",
				}},
			}
			if diff := cmp.Diff(want, st); diff != "" {
				t.Errorf("%s (-want +got):\n%s", uid, diff)
			}
		}
	})
}

func TestTerminatePods_cancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pods := newPods()
		pods.add("web", 0, 9, &fakePod{stops: time.Minute})
		pods.add("dns", 5, 9, &fakePod{stops: sec})
		m, times := newManager(pods, Period{Period: 20 * sec}, Period{Priority: 5, Period: 20 * sec})
		ctx, cancel := context.WithTimeout(t.Context(), 2*sec)
		defer cancel()
		m.terminatePods(ctx)
		pods.tell("end")
		if diff := cmp.Diff([]string{"0s web terminates within 9s", "2s end"}, pods.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if want := []state.Shutdown{{Began: pods.began}}; !cmp.Equal(times.all, want) {
			t.Errorf("times %v, want %v", times.all, want)
		}
		time.Sleep(time.Hour)
	})
}
