package checkpoint

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// machine has a wall clock that can be set, and a time since boot that cannot.
type machine struct {
	wall time.Time
	boot string
	up   time.Duration
	err  error
}

func (m *machine) clock() bootClock {
	return bootClock{
		now:  func() time.Time { return m.wall },
		boot: func() (string, time.Duration, error) { return m.boot, m.up, m.err },
	}
}

// pass advances both clocks.
func (m *machine) pass(d time.Duration) { m.wall, m.up = m.wall.Add(d), m.up+d }

// limitedPod returns a pod with an active deadline.
func limitedPod() *v1.Pod {
	p := outcomePod("h")
	p.Spec.ActiveDeadlineSeconds = new(int64(600))
	return p
}

// begun returns the status of a pod that started at a time.
func begun(at time.Time) *v1.PodStatus {
	st := fares(v1.PodRunning, 0)
	st.StartTime = new(metav1.NewTime(at))
	return st
}

func TestWhenAPodWithADeadlineBeganIsOnTheDiskAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := runOutcomes(t), limitedPod()
		r.Save(p, begun(time.Now()))
		o, known, writes := r.files.on("u1")
		if !known || writes != 1 || o.Status.StartTime == nil || o.Started == nil || o.Status.Phase != "" {
			t.Fatalf("on the disk %v after %d writes: %+v", known, writes, o)
		}
		r.Save(p, begun(time.Now()))
		time.Sleep(time.Minute)
		if _, _, writes = r.files.on("u1"); writes != 1 {
			t.Errorf("%d writes, though nothing is new", writes)
		}
		st := begun(time.Now())
		st.ContainerStatuses[0].RestartCount = 3
		r.Save(p, st)
		time.Sleep(time.Minute)
		if later, _, _ := r.files.on("u1"); later.Status.ContainerStatuses[0].RestartCount != 3 || *later.Started != *o.Started {
			t.Errorf("after a restart of a container: %+v, began %+v, before that %+v", later, later.Started, o.Started)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := runOutcomes(t)
		r.Save(outcomePod("h"), begun(time.Now()))
		time.Sleep(time.Minute)
		if o, known, _ := r.files.on("u1"); known {
			t.Errorf("of a pod without a deadline is on the disk: %+v", o)
		}
	})
}

func TestForHowLongAPodHasBeenActive(t *testing.T) {
	t.Parallel()
	const decade = 10 * 365 * 24 * time.Hour
	for name, tc := range map[string]struct {
		meanwhile func(m *machine)
		want      time.Duration
	}{
		"the time that went by":                     {func(m *machine) { m.pass(time.Hour) }, time.Hour},
		"also where the clock jumped ahead":         {func(m *machine) { m.pass(time.Hour); m.wall = m.wall.Add(decade) }, time.Hour},
		"or back":                                   {func(m *machine) { m.pass(time.Hour); m.wall = m.wall.Add(-decade) }, time.Hour},
		"after another boot the wall clock's time":  {func(m *machine) { m.pass(time.Hour); m.boot, m.up = "b", time.Minute }, time.Hour},
		"but no less than that boot":                {func(m *machine) { m.boot, m.up = "b", time.Minute; m.wall = m.wall.Add(-decade) }, time.Minute},
		"where no clock can be read, the wall's":    {func(m *machine) { m.pass(time.Hour); m.err = errors.New("no clock") }, time.Hour},
		"and never less than none":                  {func(m *machine) { m.err = errors.New("no clock"); m.wall = m.wall.Add(-decade) }, 0},
		"a second boot with a clock that is set":    {func(m *machine) { m.boot, m.up = "b", time.Minute; m.wall = m.wall.Add(2 * time.Hour) }, 2 * time.Hour},
		"the same boot a moment later is no moment": {func(*machine) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &machine{wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), boot: "a", up: 5 * time.Second}
				r, p := runOutcomes(t), limitedPod()
				r.clock = m.clock()
				r.Save(p, begun(m.wall))
				o, _, _ := r.files.on("u1")
				tc.meanwhile(m)

				r = runOutcomes(t, o)
				r.clock = m.clock()
				st, known := r.Saved(p)
				if !known || pod.IsTerminal(st.Phase) || st.StartTime == nil {
					t.Fatalf("kept %v: %+v", known, st)
				}
				if got := r.ActiveFor(p); got != tc.want {
					t.Errorf("active for %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// TestAClockThatIsSetAfterABootChangesNothing checks that the wall clock is not used after the
// first look in a boot.
func TestAClockThatIsSetAfterABootChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), boot: "a", up: 5 * time.Second}
		r, p := runOutcomes(t), limitedPod()
		r.clock = m.clock()
		r.Save(p, begun(m.wall))
		for i := range 3 {
			o, _, _ := r.files.on("u1")
			r.stop()
			if i == 1 {
				m.boot, m.up = "b", 0
			}
			if i == 2 {
				m.wall = m.wall.Add(24 * 365 * time.Hour)
			}
			m.pass(time.Minute)
			r = runOutcomes(t, o)
			r.clock = m.clock()
			r.Saved(p)
			if got, want := r.ActiveFor(p), time.Duration(i+1)*time.Minute; got != want {
				t.Errorf("look %d: active for %s, want %s", i, got, want)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestAPodOfWhichNothingIsKeptHasNotBeenActive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := limitedPod()
		r := runOutcomes(t, kept(t, p, fares(v1.PodRunning, 2)), state.Outcome{UID: "u9"})
		if got := r.ActiveFor(p); got != 0 {
			t.Errorf("active for %s without a start time", got)
		}
		p.UID = "u2"
		if got := r.ActiveFor(p); got != 0 {
			t.Errorf("a pod nobody knows was active for %s", got)
		}
	})
}
