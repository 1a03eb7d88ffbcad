package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state/decisions"
)

func TestADiskThatFailsStopsNoDecision(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, log *policytest.Logs) {
		t.Helper()
		answered := 0
		one := func(name string) {
			r.Put(recorded(name, "", "no", func() { answered++ }))
			synctest.Wait()
		}
		d.Set(errors.New("no space left on device"), nil)
		one("a")
		one("b")
		one("a")
		if answered != 3 || log.Count("no space left") != 1 {
			t.Errorf("%d answers; log:\n%s", answered, log.Lines())
		}
		want := []string{"b×1  no space left on device", "a×2  no space left on device"}
		if diff := cmp.Diff(want, shownAs(r.shown)); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
		d.Set(nil, nil)
		one("a")
		want = []string{"b×1  no space left on device", "a×3 -1"}
		if diff := cmp.Diff(want, shownAs(r.shown)); diff != "" || log.Count("on record again") != 1 {
			t.Errorf("log:\n%s\ndecisions (-want +got):\n%s", log.Lines(), diff)
		}
		if diff := cmp.Diff([]string{"-1 a×3"}, d.Has()); diff != "" {
			t.Errorf("on the disk (-want +got):\n%s", diff)
		}
		d.Set(decisions.ErrTooLarge, nil)
		one("huge")
		if log.Count("are not on record") != 1 || !strings.Contains(fmt.Sprint(shownAs(r.shown)), "huge×1  the record is larger") {
			t.Errorf("decisions %v, log:\n%s", shownAs(r.shown), log.Lines())
		}
	})
}

func TestADiskThatHangsStopsNoDecision(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, log *policytest.Logs) {
		t.Helper()
		hang := make(chan struct{})
		d.Set(nil, hang)
		answered := map[string]time.Duration{}
		began := time.Now()
		one := func(name string) { r.Put(recorded(name, "", "no", func() { answered[name] = time.Since(began) })) }
		one("a")
		time.Sleep(time.Second)
		one("b")
		time.Sleep(10 * time.Second)
		one("c")
		synctest.Wait()
		if diff := cmp.Diff(map[string]time.Duration{"a": diskPatience, "b": diskPatience, "c": 11 * time.Second}, answered); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if log.Count("has not taken it within 2s") != 1 {
			t.Errorf("log:\n%s", log.Lines())
		}
		d.Set(nil, nil)
		close(hang)
		synctest.Wait()
		one("d")
		synctest.Wait()
		why := "the disk has not taken it within 2s"
		want := []string{"b×1  " + why, "c×1  " + why, "a×1 -1", "d×1 -2"}
		if diff := cmp.Diff(want, shownAs(r.shown)); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
	})
}

func TestATenantWhoseDecisionsWaitForTheDiskWaitsForItself(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		hang := make(chan struct{})
		d.Set(nil, hang)
		freed := 0
		r.of["loud"].freed = func() { freed++ }
		for i := range maxUnrecorded {
			if r.Behind("loud") {
				t.Fatalf("behind after %d", i)
			}
			r.Put(recorded(strconv.Itoa(i), "loud", "no", func() {}))
		}
		if !r.Behind("loud") || r.Behind("quiet") || r.Behind("") {
			t.Errorf("behind: loud %t, quiet %t, operator %t", r.Behind("loud"), r.Behind("quiet"), r.Behind(""))
		}
		d.Set(nil, nil)
		close(hang)
		synctest.Wait()
		if r.Behind("loud") || freed != 1 {
			t.Errorf("behind %t, told %d times", r.Behind("loud"), freed)
		}
	})
}

func TestAnAnswerIsGivenOnceItsRecordIsOnTheDisk(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		hang := make(chan struct{})
		d.Set(nil, hang)
		var answers []string
		var mu sync.Mutex
		for i := range 10 {
			name := fmt.Sprint("pod-", i)
			r.Put(recorded(name, "", "no", func() {
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, name)
				if !slices.Contains(d.Has(), fmt.Sprintf("-%d %s×1", i+1, name)) {
					t.Errorf("%s is answered, and on the disk is %v", name, d.Has())
				}
			}))
		}
		time.Sleep(diskPatience / 2)
		if len(answers) > 0 {
			t.Errorf("answered before the disk has it: %v", answers)
		}
		d.Set(nil, nil)
		close(hang)
		synctest.Wait()
		if len(answers) != 10 || answers[0] != "pod-0" || answers[9] != "pod-9" || d.Batches > 2 {
			t.Errorf("answers %v in %d batches", answers, d.Batches)
		}
	})
}

func TestAnotherVersionOfItsStatusMakesNoOtherRecordOfAPod(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		for i := range 3 {
			x := recorded("web", "", "no", func() {})
			x.Request.Question.Pod.ResourceVersion = strconv.Itoa(i)
			x.Request.Question.Old = policytest.SomePod("web", func(p *v1.Pod) { p.ResourceVersion = strconv.Itoa(i) })
			r.Put(x)
			synctest.Wait()
		}
		x := recorded("web", "", "no", func() {})
		x.Request.Question.Old = policytest.SomePod("web", func(p *v1.Pod) { p.Labels["tier"] = "new" })
		r.Put(x)
		synctest.Wait()
		if diff := cmp.Diff([]string{"-1 web×1", "-2 web×1"}, d.Has()); diff != "" {
			t.Errorf("on the disk (-want +got):\n%s", diff)
		}
	})
}

func TestNobodyWaitsForTheRecordsOfOthers(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, log *policytest.Logs) {
		t.Helper()
		loud, hang := "loud", make(chan struct{})
		d.Only = &loud
		d.Set(nil, hang)
		var mu sync.Mutex
		var answered []string
		one := func(name, tenant string) {
			r.Put(recorded(name, tenant, "no", func() {
				mu.Lock()
				defer mu.Unlock()
				answered = append(answered, name)
			}))
		}
		soFar := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(answered)
		}
		one("a", "loud")
		synctest.Wait()
		one("b", "quiet")
		synctest.Wait()
		one("c", "")
		synctest.Wait()
		if diff := cmp.Diff([]string{"b", "c"}, soFar()); diff != "" {
			t.Errorf("answers while the records of one tenant hang (-want +got):\n%s", diff)
		}
		time.Sleep(diskPatience)
		synctest.Wait()
		if diff := cmp.Diff([]string{"b", "c", "a"}, soFar()); diff != "" || log.Count("tenant=loud") != 1 {
			t.Errorf("log:\n%s\nanswers (-want +got):\n%s", log.Lines(), diff)
		}
		close(hang)
	})
}

func TestWhatIsDecidedAgainIsWrittenOnce(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		answered := 0
		again := func(n int, text string) {
			for range n {
				r.Put(recorded("web", "", text, func() { answered++ }))
			}
			synctest.Wait()
		}
		again(3, "no") // in one batch
		again(2, "no") // later
		again(1, "never")
		want := []string{"web×5 -1", "web×1 -2"}
		if diff := cmp.Diff(want, shownAs(r.shown)); diff != "" || answered != 6 {
			t.Errorf("%d answers; decisions (-want +got):\n%s", answered, diff)
		}
		if diff := cmp.Diff([]string{"-1 web×1", "-2 web×1"}, d.Has()); diff != "" || len(d.Counts) > 0 {
			t.Errorf("counts %v, on the disk (-want +got):\n%s", d.Counts, diff)
		}
		time.Sleep(countsPeriod)
		again(1, "no")
		if len(d.Counts) != 1 || d.Counts[0].Count != 6 {
			t.Errorf("counts %v after %s", d.Counts, countsPeriod)
		}
		again(100, "no")
		if len(d.Counts) != 1 {
			t.Errorf("counts %v are written more often than once in %s", d.Counts, countsPeriod)
		}
	})
}

func TestWhatIsNotShownAnyMoreIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	const n = maxDecisions + 100
	disk := &policytest.RecordDisk{}
	all := func(r *Recorder, times int) {
		for range times {
			for i := range n {
				r.Put(recorded(strconv.Itoa(i), "", "no", func() {}))
				if i%100 == 0 {
					synctest.Wait()
				}
			}
			synctest.Wait()
		}
	}
	counted := func(d *policytest.RecordDisk, id string) (count int) {
		for _, c := range d.Counts {
			if c.ID == id {
				count = c.Count
			}
		}
		return count
	}
	withRecorderOn(t, disk, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		all(r, 3)
		shown := shownAs(r.shown)
		if len(d.Has()) != n || len(shown) != maxDecisions || shown[maxDecisions-1] != fmt.Sprintf("%d×3 -%d", n-1, n) {
			t.Errorf("%d are written, %d shown, the last is %s", len(d.Has()), len(shown), shown[len(shown)-1])
		}
		time.Sleep(countsPeriod)
		r.Put(recorded("0", "", "no", func() {})) // the shown decisions no longer include this one
		synctest.Wait()
		if got := counted(d, "-1"); got != 4 {
			t.Errorf("the first is on record as made %d times", got)
		}
	})
	withRecorderOn(t, disk, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		all(r, 1)
		if len(d.Has()) != n {
			t.Errorf("%d are written after a restart", len(d.Has()))
		}
	})
}

func TestWhatIsPendingAtTheEndIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &policytest.RecordDisk{}
		r := NewRecorder(Options{Records: d, Logger: slog.New(slog.DiscardHandler), Now: time.Now}, &Decisions{}, func() {})
		answered := 0
		r.Put(recorded("web", "", "no", func() { answered++ }))
		r.Put(recorded("web", "", "no", func() { answered++ }))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		r.Run(ctx)
		r.Put(recorded("late", "", "no", func() { answered++ }))
		if len(d.Has()) != 1 || answered != 2 || len(d.Counts) != 1 {
			t.Errorf("%d answers, on the disk %v, counts %v", answered, d.Has(), d.Counts)
		}
	})
}

// recorded returns a decision to record.
func recorded(name, tenant, text string, answer func()) *Recording {
	q := policytest.Question(name)
	x := &Recording{Request: policytest.Request(q), Answer: answer, Decision: api.Decision{
		First: policytest.Instant, Last: policytest.Instant, Count: 1, Hook: api.HookAdmit, Op: api.Add, Name: name, Instance: name, Tenant: tenant,
		Verdict: api.Verdict{Answer: api.Deny, Message: text},
	}}
	return x
}

// shownAs returns the decisions as users see them.
func shownAs(d *Decisions) (list []string) {
	all := d.Newest()
	for i := range all {
		n := &all[i]
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s×%d %s %s", n.Name, n.Count, n.ID, n.NotKept)))
	}
	return list
}

// withRecorder runs a recorder with an empty disk in a bubble.
func withRecorder(t *testing.T, do func(t *testing.T, r *Recorder, d *policytest.RecordDisk, log *policytest.Logs)) {
	t.Helper()
	withRecorderOn(t, &policytest.RecordDisk{}, do)
}

// withRecorderOn runs a recorder in a bubble, with a disk that may already hold records.
func withRecorderOn(t *testing.T, d *policytest.RecordDisk, do func(t *testing.T, r *Recorder, d *policytest.RecordDisk, log *policytest.Logs)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := &policytest.Logs{}
		c := Options{Records: d, Logger: log.Logger(), Now: time.Now, Tenants: []string{"loud", "quiet"}}
		r := NewRecorder(c, &Decisions{}, func() {})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		do(t, r, d, log)
		stop()
		running.Wait()
	})
}

func TestCountsThatAreNotWrittenAreKept(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *Recorder, d *policytest.RecordDisk, _ *policytest.Logs) {
		t.Helper()
		again := func() {
			r.Put(recorded("web", "", "no", func() {}))
			synctest.Wait()
		}
		again()
		again()
		again()
		d.Set(errors.New("the disk is full"), nil)
		time.Sleep(countsPeriod)
		again() // three equal decisions were recorded before
		d.Set(nil, nil)
		d.Counts = nil
		time.Sleep(countsPeriod)
		r.Put(recorded("db", "", "no", func() {})) // this decision repeats none
		synctest.Wait()
		if len(d.Counts) != 1 || d.Counts[0].Count != 4 {
			t.Errorf("counts %+v", d.Counts)
		}
	})
}
