package checkpoint

import (
	"log/slog"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// next returns the Outcomes of the next agent, if this one is killed now: it starts with what
// is on the disk.
func (r *outcomeRun) next(t *testing.T) *outcomeRun {
	t.Helper()
	r.files.mu.Lock()
	files := maps.Clone(r.files.files)
	r.files.mu.Unlock()
	var kept []state.Outcome
	for _, o := range files {
		kept = append(kept, o)
	}
	return runOutcomes(t, kept...)
}

func TestAnOutcomeIsThatOfALifeOfThePod(t *testing.T) {
	t.Parallel()
	first := time.Unix(1700000000, 5)
	again := first.Add(time.Hour)
	api := func(hash string) *v1.Pod {
		p := outcomePod(hash)
		p.Annotations = map[string]string{pod.AnnotationSource: pod.SourceAPI}
		return p
	}
	for name, tc := range map[string]struct {
		had *v1.Pod
		// meanwhile is called after the pod has ended and before the agent is killed.
		meanwhile func(r *outcomeRun)
		// then is the pod with this UID in the next agent, and since is when it was first seen.
		then     *v1.Pod
		since    time.Time
		restored bool
		want     bool
	}{
		"nothing has changed": {outcomePod("h"), nil, outcomePod("h"), first, true, true},
		"it was edited": {outcomePod("h"), func(r *outcomeRun) {
			r.Track(outcomePod("i"), first, false)
			time.Sleep(time.Minute)
		}, outcomePod("i"), first, true, true},
		"it was edited, and the agent killed at once": {outcomePod("h"), func(r *outcomeRun) {
			r.Track(outcomePod("i"), first, false)
		}, outcomePod("i"), first, true, true},
		"the checkpoint was written, and nothing else": {outcomePod("h"), nil, outcomePod("i"), first, true, true},
		"it was edited, and the checkpoint not written": {outcomePod("h"), func(r *outcomeRun) {
			r.Track(outcomePod("i"), first, false)
			time.Sleep(time.Minute)
		}, outcomePod("h"), first, true, true},
		"it was removed and added, and the agent killed at once": {outcomePod("h"), func(r *outcomeRun) {
			r.Forget("u1")
			r.Track(outcomePod("h"), again, false)
		}, outcomePod("h"), again, true, false},
		"it was removed and added otherwise": {outcomePod("h"), func(r *outcomeRun) {
			r.Forget("u1")
			r.Track(outcomePod("i"), again, false)
		}, outcomePod("i"), again, true, false},
		"it is added otherwise while no agent runs": {outcomePod("h"), nil, outcomePod("i"), again, false, false},
		"the checkpoint was lost":                   {outcomePod("h"), nil, outcomePod("h"), again, false, true},
		"the checkpoint was lost after an edit": {outcomePod("h"), func(r *outcomeRun) {
			r.Track(outcomePod("i"), first, false)
			time.Sleep(time.Minute)
		}, outcomePod("i"), again, false, true},
		"a pod of an API server was labelled":           {api("h"), nil, api("i"), first, true, true},
		"the checkpoint of an API server was lost":      {api("h"), nil, api("h"), again, false, true},
		"a manifest has the UID of an API server's pod": {api("h"), nil, outcomePod("h"), first, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := runOutcomes(t)
				r.Track(tc.had, first, false)
				r.Save(tc.had, fares(v1.PodFailed, 3))
				if !r.Ended(tc.had) {
					t.Fatal("it has not ended")
				}
				if tc.meanwhile != nil {
					tc.meanwhile(r)
				}
				r = r.next(t)
				r.Track(tc.then, tc.since, tc.restored)
				if got := r.Ended(tc.then); got != tc.want {
					t.Errorf("ended %v, want %v", got, tc.want)
				}
				if _, known := r.Saved(tc.then); known != tc.want {
					t.Errorf("kept %v, want %v", known, tc.want)
				}
				time.Sleep(time.Minute)
				if o, left, _ := r.files.on("u1"); left != tc.want || left && !o.FirstSeen.Equal(tc.since) {
					t.Errorf("on the disk %v, since %s", left, o.FirstSeen)
				}
			})
		})
	}
}

func TestWhatAnEarlierVersionHasWrittenCountsForTheSameManifestOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		has  *v1.Pod
		want bool
	}{
		"the same":    {outcomePod("h"), true},
		"another one": {outcomePod("i"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := runOutcomes(t, kept(t, outcomePod("h"), fares(v1.PodFailed, 3)))
				r.Track(tc.has, time.Unix(5, 0), true)
				if _, known := r.Saved(tc.has); known != tc.want {
					t.Errorf("kept %v, want %v", known, tc.want)
				}
				time.Sleep(time.Minute)
				if o, left, _ := r.files.on("u1"); left != tc.want || left && o.FirstSeen.IsZero() {
					t.Errorf("on the disk %v: %+v", left, o)
				}
			})
		})
	}
}

func TestAnEditKeepsSinceWhenAPodIsActiveAndItsRestarts(t *testing.T) {
	t.Parallel()
	edited := limitedPod()
	edited.Annotations[pod.AnnotationHash] = "i"
	for name, goes := range map[string]func(r *outcomeRun){
		"and it fares on":              func(r *outcomeRun) { r.Save(edited, fares(v1.PodRunning, 4)); time.Sleep(time.Minute) },
		"and the agent is killed then": func(*outcomeRun) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, first := runOutcomes(t), time.Now()
				r.Track(limitedPod(), first, false)
				st := begun(time.Now())
				st.ContainerStatuses[0].RestartCount = 4
				r.Save(limitedPod(), st)
				before, _, _ := r.files.on("u1")
				time.Sleep(time.Minute)
				r.Track(edited, first, false)
				goes(r)

				r = r.next(t)
				r.Track(edited, first, true)
				got, known := r.Saved(edited)
				if diff := cmp.Diff(before.Status, got); !known || diff != "" {
					t.Errorf("kept %v (-before +after):\n%s", known, diff)
				}
				time.Sleep(time.Minute)
				after, _, _ := r.files.on("u1")
				if diff := cmp.Diff(before.Started, after.Started); diff != "" {
					t.Errorf("started (-before +after):\n%s", diff)
				}
			})
		})
	}
}

func TestNothingIsLeftOfALifeThatIsOver(t *testing.T) {
	t.Parallel()
	o := NewOutcomes(&outcomeFiles{files: map[types.UID]state.Outcome{}}, slog.New(slog.DiscardHandler))
	o.Track(outcomePod("h"), time.Now(), false)
	o.Forget("u1")
	if kept := maps.Collect(o.kept.Values); len(o.lives) > 0 || len(kept) > 0 {
		t.Errorf("left: %d lives, %d outcomes", len(o.lives), len(kept))
	}
}
