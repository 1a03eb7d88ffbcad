package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
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
	"github.com/wardlet/wardlet/core/state"
)

// recordsIn opens the records of a state directory until close.
func recordsIn(t *testing.T, path string) (log *state.DecisionLog, closeAll func()) {
	t.Helper()
	d, err := state.Open(path, slog.New(slog.DiscardHandler))
	// A program that another test starts may have the lock of a directory that was closed, until it runs.
	for deadline := time.Now().Add(10 * time.Second); err != nil && strings.Contains(err.Error(), "another agent uses it") && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		d, err = state.Open(path, slog.New(slog.DiscardHandler))
	}
	policytest.Must(t, err)
	log, err = d.Decisions(map[string]int64{"": 4 << 20, "a": 1 << 20})
	policytest.Must(t, err)
	closeAll = sync.OnceFunc(func() {
		policytest.Must(t, log.Close())
		policytest.Must(t, d.Close())
	})
	t.Cleanup(closeAll)
	return log, closeAll
}

// recordDisk is a place for records that can fail or hang.
type recordDisk struct {
	Records

	mu   sync.Mutex
	err  error
	hang chan struct{}
	// only is the owner whose records hang, if it is not all.
	only    *string
	batches int
	written []string
	counts  []state.DecisionCount
	// records are those that were written, the oldest first.
	records []state.DecisionRecord
}

func (d *recordDisk) Append(tenant string, entries []state.DecisionEntry) []error {
	d.mu.Lock()
	hang := d.hang
	if d.only != nil && *d.only != tenant {
		hang = nil
	}
	d.mu.Unlock()
	if hang != nil {
		<-hang
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.batches++
	errs := make([]error, len(entries))
	for i := range entries {
		if errs[i] = d.err; d.err == nil {
			r := entries[i].Record
			r.ID = fmt.Sprintf("%s-%d", tenant, len(d.written)+1)
			d.written = append(d.written, fmt.Sprintf("%s %s×%d", r.ID, r.Name, r.Count))
			d.records = append(d.records, *r)
		}
	}
	return errs
}

func (d *recordDisk) Counted(_ string, counts []state.DecisionCount) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts = append(d.counts, counts...)
	return d.err
}

func (d *recordDisk) KeepFiles(string, map[string][]byte) error { return nil }

func (d *recordDisk) Newest(most int) ([]state.DecisionRecord, error) {
	return d.records[max(0, len(d.records)-most):], nil
}

func (d *recordDisk) set(err error, hang chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.hang = err, hang
}

func (d *recordDisk) has() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.written)
}

// recorded is a decision that is to be put on record.
func recorded(name, tenant, text string, answer func()) *recording {
	q := policytest.Question(name)
	x := &recording{request: policytest.Request(q), answer: answer, decision: api.Decision{
		First: policytest.Instant, Last: policytest.Instant, Count: 1, Hook: api.HookAdmit, Op: api.Add, Name: name, Instance: name, Tenant: tenant,
		Verdict: api.Verdict{Answer: api.Deny, Message: text},
	}}
	return x
}

// recording runs a recorder in a bubble.
func withRecorder(t *testing.T, do func(t *testing.T, r *recorder, d *recordDisk, log *policytest.Logs)) {
	t.Helper()
	withRecorderOn(t, &recordDisk{}, do)
}

// withRecorderOn runs a recorder in a bubble, with a disk that may have something.
func withRecorderOn(t *testing.T, d *recordDisk, do func(t *testing.T, r *recorder, d *recordDisk, log *policytest.Logs)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := &policytest.Logs{}
		c := &Config{Records: d, Logger: log.Logger(), Now: time.Now, Tenants: []Tenant{{Name: "loud"}, {Name: "quiet"}}}
		r := newRecorder(c, &decisions{}, func() {})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.run(ctx) })
		do(t, r, d, log)
		stop()
		running.Wait()
	})
}

// shownAs are the decisions as people see them.
func shownAs(d *decisions) (list []string) {
	all := d.newest()
	for i := range all {
		n := &all[i]
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s×%d %s %s", n.Name, n.Count, n.ID, n.NotKept)))
	}
	return list
}

func TestAnAnswerIsGivenOnceItsRecordIsOnTheDisk(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		hang := make(chan struct{})
		d.set(nil, hang)
		var answers []string
		var mu sync.Mutex
		for i := range 10 {
			name := fmt.Sprint("pod-", i)
			r.put(recorded(name, "", "no", func() {
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, name)
				if !slices.Contains(d.has(), fmt.Sprintf("-%d %s×1", i+1, name)) {
					t.Errorf("%s is answered, and on the disk is %v", name, d.has())
				}
			}))
		}
		time.Sleep(diskPatience / 2)
		if len(answers) > 0 {
			t.Errorf("answered before the disk has it: %v", answers)
		}
		d.set(nil, nil)
		close(hang)
		synctest.Wait()
		if len(answers) != 10 || answers[0] != "pod-0" || answers[9] != "pod-9" || d.batches > 2 {
			t.Errorf("answers %v in %d batches", answers, d.batches)
		}
	})
}

func TestWhatIsDecidedAgainIsWrittenOnce(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		answered := 0
		again := func(n int, text string) {
			for range n {
				r.put(recorded("web", "", text, func() { answered++ }))
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
		if diff := cmp.Diff([]string{"-1 web×1", "-2 web×1"}, d.has()); diff != "" || len(d.counts) > 0 {
			t.Errorf("counts %v, on the disk (-want +got):\n%s", d.counts, diff)
		}
		time.Sleep(countsPeriod)
		again(1, "no")
		if len(d.counts) != 1 || d.counts[0].Count != 6 {
			t.Errorf("counts %v after %s", d.counts, countsPeriod)
		}
		again(100, "no")
		if len(d.counts) != 1 {
			t.Errorf("counts %v are written more often than once in %s", d.counts, countsPeriod)
		}
	})
}

func TestWhatIsNotShownAnyMoreIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	const n = maxDecisions + 100
	disk := &recordDisk{}
	all := func(r *recorder, times int) {
		for range times {
			for i := range n {
				r.put(recorded(strconv.Itoa(i), "", "no", func() {}))
				if i%100 == 0 {
					synctest.Wait()
				}
			}
			synctest.Wait()
		}
	}
	counted := func(d *recordDisk, id string) (count int) {
		for _, c := range d.counts {
			if c.ID == id {
				count = c.Count
			}
		}
		return count
	}
	withRecorderOn(t, disk, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		all(r, 3)
		shown := shownAs(r.shown)
		if len(d.has()) != n || len(shown) != maxDecisions || shown[maxDecisions-1] != fmt.Sprintf("%d×3 -%d", n-1, n) {
			t.Errorf("%d are written, %d shown, the last is %s", len(d.has()), len(shown), shown[len(shown)-1])
		}
		time.Sleep(countsPeriod)
		r.put(recorded("0", "", "no", func() {})) // it is not shown now
		synctest.Wait()
		if got := counted(d, "-1"); got != 4 {
			t.Errorf("the first is on record as made %d times", got)
		}
	})
	withRecorderOn(t, disk, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		all(r, 1)
		if len(d.has()) != n {
			t.Errorf("%d are written after a restart", len(d.has()))
		}
	})
}

func TestAnotherVersionOfItsStatusMakesNoOtherRecordOfAPod(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		for i := range 3 {
			x := recorded("web", "", "no", func() {})
			x.request.Question.Pod.ResourceVersion = strconv.Itoa(i)
			x.request.Question.Old = policytest.SomePod("web", func(p *v1.Pod) { p.ResourceVersion = strconv.Itoa(i) })
			r.put(x)
			synctest.Wait()
		}
		x := recorded("web", "", "no", func() {})
		x.request.Question.Old = policytest.SomePod("web", func(p *v1.Pod) { p.Labels["tier"] = "new" })
		r.put(x)
		synctest.Wait()
		if diff := cmp.Diff([]string{"-1 web×1", "-2 web×1"}, d.has()); diff != "" {
			t.Errorf("on the disk (-want +got):\n%s", diff)
		}
	})
}

func TestADiskThatFailsStopsNoDecision(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, log *policytest.Logs) {
		t.Helper()
		answered := 0
		one := func(name string) {
			r.put(recorded(name, "", "no", func() { answered++ }))
			synctest.Wait()
		}
		d.set(errors.New("no space left on device"), nil)
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
		d.set(nil, nil)
		one("a")
		want = []string{"b×1  no space left on device", "a×3 -1"}
		if diff := cmp.Diff(want, shownAs(r.shown)); diff != "" || log.Count("on record again") != 1 {
			t.Errorf("log:\n%s\ndecisions (-want +got):\n%s", log.Lines(), diff)
		}
		if diff := cmp.Diff([]string{"-1 a×3"}, d.has()); diff != "" {
			t.Errorf("on the disk (-want +got):\n%s", diff)
		}
		d.set(state.ErrTooLarge, nil)
		one("huge")
		if log.Count("are not on record") != 1 || !strings.Contains(fmt.Sprint(shownAs(r.shown)), "huge×1  the record is larger") {
			t.Errorf("decisions %v, log:\n%s", shownAs(r.shown), log.Lines())
		}
	})
}

func TestADiskThatHangsStopsNoDecision(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, log *policytest.Logs) {
		t.Helper()
		hang := make(chan struct{})
		d.set(nil, hang)
		answered := map[string]time.Duration{}
		began := time.Now()
		one := func(name string) { r.put(recorded(name, "", "no", func() { answered[name] = time.Since(began) })) }
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
		d.set(nil, nil)
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

func TestNobodyWaitsForTheRecordsOfOthers(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, log *policytest.Logs) {
		t.Helper()
		loud, hang := "loud", make(chan struct{})
		d.only = &loud
		d.set(nil, hang)
		var mu sync.Mutex
		var answered []string
		one := func(name, tenant string) {
			r.put(recorded(name, tenant, "no", func() {
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

func TestATenantWhoseDecisionsWaitForTheDiskWaitsForItself(t *testing.T) {
	t.Parallel()
	withRecorder(t, func(t *testing.T, r *recorder, d *recordDisk, _ *policytest.Logs) {
		t.Helper()
		hang := make(chan struct{})
		d.set(nil, hang)
		freed := 0
		r.of["loud"].freed = func() { freed++ }
		for i := range maxUnrecorded {
			if r.behind("loud") {
				t.Fatalf("behind after %d", i)
			}
			r.put(recorded(strconv.Itoa(i), "loud", "no", func() {}))
		}
		if !r.behind("loud") || r.behind("quiet") || r.behind("") {
			t.Errorf("behind: loud %t, quiet %t, operator %t", r.behind("loud"), r.behind("quiet"), r.behind(""))
		}
		d.set(nil, nil)
		close(hang)
		synctest.Wait()
		if r.behind("loud") || freed != 1 {
			t.Errorf("behind %t, told %d times", r.behind("loud"), freed)
		}
	})
}

func TestWhatIsPendingAtTheEndIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &recordDisk{}
		r := newRecorder(&Config{Records: d, Logger: slog.New(slog.DiscardHandler), Now: time.Now}, &decisions{}, func() {})
		answered := 0
		r.put(recorded("web", "", "no", func() { answered++ }))
		r.put(recorded("web", "", "no", func() { answered++ }))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		r.run(ctx)
		r.put(recorded("late", "", "no", func() { answered++ }))
		if len(d.has()) != 1 || answered != 2 || len(d.counts) != 1 {
			t.Errorf("%d answers, on the disk %v, counts %v", answered, d.has(), d.counts)
		}
	})
}

func TestDecisionsOnRecordAreShownAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("a", "deny No: never")
	start := func() (*Plane, func()) {
		log, closeAll := recordsIn(t, path)
		c := testConfig(d, s)
		c.Records = log
		p := New(c)
		stop := run(t, p)
		return p, func() { stop(); closeAll() }
	}
	p, stop := start()
	for range 3 {
		ask(t, p, policytest.Question("web"))
	}
	ask(t, p, policytest.Question("db"))
	want := p.Decisions()
	if len(want) != 2 || want[0].Count != 3 || want[0].ID != "operator-1" || want[1].ID != "operator-2" {
		t.Fatalf("decisions %+v", want)
	}
	stop()
	p, stop = start()
	// The verdict that is on record is the first one.
	got := p.Decisions()
	for deadline := time.Now().Add(10 * time.Second); len(got) < 2 && time.Now().Before(deadline); got = p.Decisions() {
		time.Sleep(time.Millisecond)
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Verdict.At" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	ask(t, p, policytest.Question("db"))
	if got := p.Decisions(); len(got) != 2 || got[1].Name != "db" || got[1].Count != 2 || got[1].ID != "operator-2" {
		t.Errorf("decisions %+v", got)
	}
	stop()
}
