package policy

import (
	"errors"
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

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// lasting is a policy whose last verdict counts.
func lasting(name string) *policy {
	return &policy{Document: &spec.Document{Keys: spec.Keys{Name: name, OnError: spec.LastVerdict}}}
}

func answering(answer api.Answer) *opinion { return &opinion{Opinion: api.Opinion{Answer: answer}} }

func TestTheVerdictsThatWereNotUsedForLongestAreForgotten(t *testing.T) {
	t.Parallel()
	l, p := &lasts{}, lasting("p")
	for i := range maxLasts + 1 {
		l.put(p, strconv.Itoa(i), "", answering(api.Allow), policytest.Instant)
		l.get(p, "0")
	}
	if l.total != maxLasts || len(l.known) != maxLasts || l.orders[""].Len() != maxLasts {
		t.Errorf("%d are kept, %d known", l.total, len(l.known))
	}
	_, first := l.get(p, "0")
	_, second := l.get(p, "1")
	if !first || second {
		t.Errorf("the one in use is kept: %t, the one that is not: %t", first, second)
	}
	l.put(p, "0", "", &opinion{retryAfter: 1}, policytest.Instant)
	if o, _ := l.get(p, "0"); o.retryAfter != 1 {
		t.Error("a newer verdict does not replace the older one")
	}
}

func TestATenantsManyPodsPushOutItsOwnVerdictsOnly(t *testing.T) {
	t.Parallel()
	l, p, q := &lasts{}, lasting("p"), lasting("q")
	l.put(p, "mine", "b", answering(api.Deny), policytest.Instant)
	l.put(p, "node", "", answering(api.Deny), policytest.Instant)
	for i := range 2 * maxLasts {
		for _, policy := range []*policy{p, q} {
			l.put(policy, "flood-"+strconv.Itoa(i), "a", answering(api.Allow), policytest.Instant)
		}
	}
	_, mine := l.get(p, "mine")
	_, nodes := l.get(p, "node")
	_, newest := l.get(q, "flood-"+strconv.Itoa(2*maxLasts-1))
	if !mine || !nodes || !newest || l.total > maxLasts || l.counts["a"] > maxLasts-2 {
		t.Errorf("the others' are kept: %t, %t; the newest: %t; %d of %d are the tenant's", mine, nodes, newest, l.counts["a"], l.total)
	}
}

func TestAPolicyHasVerdictsOfItsOwn(t *testing.T) {
	t.Parallel()
	l := &lasts{}
	theirs := lasting("p")
	theirs.tenant = "a"
	for _, p := range []*policy{lasting("p"), theirs, lasting("q")} {
		l.put(p, "i", "a", &opinion{api.Opinion{Answer: api.Deny, Reason: p.tenant + p.Name, Message: "m", Patch: p.tenant}, time.Second}, policytest.Instant)
	}
	for want, p := range map[string]*policy{"p": lasting("p"), "ap": theirs, "q": lasting("q")} {
		o, ok := l.get(p, "i")
		if !ok || o.Answer != api.Deny || o.Reason != want || o.Message != "m" || o.retryAfter != time.Second || (o.Patch != "") != (want == "ap") {
			t.Errorf("opinion %+v, %t; want that of %s", o, ok, want)
		}
	}
	if _, ok := l.get(lasting("r"), "i"); ok {
		t.Error("a policy that was not asked has said something")
	}
	holding := lasting("s")
	holding.OnError = api.Hold
	l.put(holding, "i", "a", answering(api.Deny), policytest.Instant)
	if _, ok := l.get(holding, "i"); ok {
		t.Error("what nobody will ask for is kept")
	}
}

// disk counts writes and can fail.
type disk struct {
	Opinions
	mu     sync.Mutex
	writes []int
	at     []time.Time
	// removed are those of the last write.
	removed []string
	err     error
}

func (d *disk) Apply(put []state.LastOpinions, remove []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes, d.at, d.removed = append(d.writes, len(put)), append(d.at, time.Now()), remove
	if d.err != nil {
		return d.err
	}
	return d.Opinions.Apply(put, remove)
}

// diskBubble is bubble with a state directory made outside of it.
func diskBubble(t *testing.T, f func(d policytest.Tree, s *policytest.Scripts, disk *disk)) {
	t.Helper()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	t.Cleanup(func() { dir.Close() })
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) { f(d, s, &disk{Opinions: dir.Opinions()}) })
}

func TestALastVerdictCountsAfterARestart(t *testing.T) {
	t.Parallel()
	diskBubble(t, func(d policytest.Tree, s *policytest.Scripts, disk *disk) {
		t := d.T
		keep := func(c *Config) { c.Opinions = disk }
		d.Policy("a", "deny-image other", `on_error = "last_verdict"`)
		d.Policy("b", "hold")
		life(t, d, s, func(p *Plane, _ *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Hold {
				t.Errorf("verdict %+v", got)
			}
			q := policytest.Question("bad")
			q.Pod.Spec.Containers[0].Image = "other"
			if got := ask(t, p, q); got.Answer != api.Deny {
				t.Errorf("verdict %+v", got)
			}
		}, keep)
		s.Edit = func(policy string, r *wasm.Result) {
			if policy == "a" {
				r.Answer = "perhaps"
			}
		}
		life(t, d, s, func(p *Plane, _ *policytest.Logs) {
			for name, want := range map[string]string{"web": "before that it said abstain", "bad": "before that it said deny: ImageNotAllowed: image other is not allowed", "new": "it has not judged this version of the pod before"} {
				q := policytest.Question(name)
				if name == "bad" {
					q.Pod.Spec.Containers[0].Image = "other"
				}
				if got := ask(t, p, q); !strings.Contains(got.Opinions[0].Message, want) {
					t.Errorf("%s: opinion %+v, want %q", name, got.Opinions[0], want)
				}
			}
			changed := policytest.Question("web")
			changed.Pod.Labels["x"] = "y"
			if got := ask(t, p, changed); !strings.Contains(got.Opinions[0].Message, "it has not judged this version") {
				t.Errorf("another instance: %+v", got.Opinions[0])
			}
		}, keep)
	})
}

func TestVerdictsAreWrittenAtMostOnceASecondAndOnlyWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	diskBubble(t, func(d policytest.Tree, s *policytest.Scripts, disk *disk) {
		t := d.T
		d.Policy("a", "hold", `on_error = "last_verdict"`)
		life(t, d, s, func(p *Plane, _ *policytest.Logs) {
			n := 0
			s.Edit = func(_ string, r *wasm.Result) { n++; r.Message = strconv.Itoa(n) }
			for range 3 {
				for _, name := range []string{"x", "y", "z"} {
					ask(t, p, policytest.Question(name))
					time.Sleep(lastsBatch / 5)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			s.Edit = func(_ string, r *wasm.Result) { r.Answer = api.Deny }
			ask(t, p, policytest.Question("y"))
		}, func(c *Config) { c.Opinions = disk })
		if diff := cmp.Diff([]int{3, 1}, disk.writes); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		for i := range disk.at[1:] {
			if disk.at[i+1].Sub(disk.at[i]) < lastsBatch {
				t.Errorf("written at %v", disk.at)
			}
		}
	})
}

func TestWhatTheDiskDidNotTakeIsWrittenLater(t *testing.T) {
	t.Parallel()
	diskBubble(t, func(d policytest.Tree, s *policytest.Scripts, disk *disk) {
		t := d.T
		d.Policy("a", "deny", `on_error = "last_verdict"`)
		disk.err = errors.New("disk full")
		life(t, d, s, func(p *Plane, l *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny {
				t.Errorf("verdict %+v", got)
			}
			time.Sleep(5 * lastsRetry)
			if l.Count("what policies said last is not kept over a restart") != 1 {
				t.Errorf("logged %q", l.Lines())
			}
			disk.mu.Lock()
			disk.err = nil
			disk.mu.Unlock()
			time.Sleep(2 * lastsRetry)
			synctest.Wait()
			if all, _ := disk.Load(); len(all) != 1 {
				t.Errorf("kept %+v", all)
			}
		}, func(c *Config) { c.Opinions = disk })
	})
}

func TestWhatIsTooMuchIsForgottenOnTheDiskToo(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	defer dir.Close()
	l, p := &lasts{}, lasting("p")
	l.load(dir.Opinions(), slog.New(slog.DiscardHandler))
	for i := range 10 {
		l.put(p, strconv.Itoa(i), "", answering(api.Allow), policytest.Instant.Add(time.Duration(i)))
	}
	flush(t, l, true)
	l.total += maxLasts - 4 // as if there were so many
	l.shrink()
	flush(t, l, true)
	all, _ := dir.Opinions().Load()
	if len(all) != 4 || all[0].Instance != "6" {
		t.Errorf("kept %+v", all)
	}
	again := &lasts{}
	again.load(dir.Opinions(), slog.New(slog.DiscardHandler))
	if _, ok := again.get(p, "9"); !ok || again.total != 4 {
		t.Errorf("%d are known again", again.total)
	}
}

func TestADiskThatFailsLeavesNoTrailOfWhatItNeverHad(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	defer dir.Close()
	d := &disk{Opinions: dir.Opinions()}
	l, p := &lasts{}, lasting("p")
	l.load(d, slog.New(slog.DiscardHandler))
	l.put(p, "had", "", answering(api.Allow), policytest.Instant)
	flush(t, l, true)
	d.err = errors.New("disk full")
	for i := range 5 * maxLasts {
		l.put(p, strconv.Itoa(i), "", answering(api.Allow), policytest.Instant)
		if i%1000 == 0 {
			flush(t, l, false)
		}
	}
	flush(t, l, false)
	d.err = nil
	flush(t, l, true)
	if put, removed := d.writes[len(d.writes)-1], d.removed; put != maxLasts || !slices.Equal(removed, []string{"had"}) {
		t.Errorf("%d are written and %d removed in the end; want %d, and what the disk had", put, len(removed), maxLasts)
	}
}

// flush has verdicts written, which fails or not.
func flush(t *testing.T, l *lasts, want bool) {
	t.Helper()
	if got := l.kept.Flush(); got != want {
		t.Fatalf("the disk has taken them: %t", got)
	}
}

// evicting has a verdict pushed out while it is written.
type evicting struct {
	Opinions
	during func()
}

func (e *evicting) Apply(put []state.LastOpinions, remove []string) error {
	e.during()
	return e.Opinions.Apply(put, remove)
}

func TestAVerdictThatIsPushedOutWhileItIsWrittenIsRemovedAgain(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	defer dir.Close()
	l, p := &lasts{}, lasting("p")
	pushed := sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total += maxLasts
		l.shrink()
	})
	l.load(&evicting{dir.Opinions(), pushed}, slog.New(slog.DiscardHandler))
	l.put(p, "i", "", answering(api.Allow), policytest.Instant)
	flush(t, l, true)
	flush(t, l, true)
	if all, _ := dir.Opinions().Load(); len(all) > 0 {
		t.Errorf("kept %+v", all)
	}
}
