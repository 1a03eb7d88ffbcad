package eval

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/state"
)

func TestADiskThatFailsLeavesNoTrailOfWhatItNeverHad(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	defer dir.Close()
	d := &policytest.OpinionDisk{LastOpinions: dir.Opinions()}
	l, p := &VerdictCache{}, lasting("p")
	l.Load(d, slog.New(slog.DiscardHandler))
	l.Put(p, "had", "", answering(api.Allow), policytest.Instant)
	flush(t, l, true)
	d.Err = errors.New("disk full")
	for i := range 5 * maxLasts {
		l.Put(p, strconv.Itoa(i), "", answering(api.Allow), policytest.Instant)
		if i%1000 == 0 {
			flush(t, l, false)
		}
	}
	flush(t, l, false)
	d.Err = nil
	flush(t, l, true)
	if put, removed := d.Writes[len(d.Writes)-1], d.Removed; put != maxLasts || !slices.Equal(removed, []string{"had"}) {
		t.Errorf("%d are written and %d removed in the end; want %d, and what the disk had", put, len(removed), maxLasts)
	}
}

func TestAPolicyHasVerdictsOfItsOwn(t *testing.T) {
	t.Parallel()
	l := &VerdictCache{}
	theirs := lasting("p")
	theirs.Tenant = "a"
	for _, p := range []*Policy{lasting("p"), theirs, lasting("q")} {
		l.Put(p, "i", "a", &PolicyResult{api.Opinion{Answer: api.Deny, Reason: p.Tenant + p.Name, Message: "m", Patch: p.Tenant}, time.Second}, policytest.Instant)
	}
	for want, p := range map[string]*Policy{"p": lasting("p"), "ap": theirs, "q": lasting("q")} {
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
	l.Put(holding, "i", "a", answering(api.Deny), policytest.Instant)
	if _, ok := l.get(holding, "i"); ok {
		t.Error("what nobody will ask for is kept")
	}
}

func TestATenantsManyPodsPushOutItsOwnVerdictsOnly(t *testing.T) {
	t.Parallel()
	l, p, q := &VerdictCache{}, lasting("p"), lasting("q")
	l.Put(p, "mine", "b", answering(api.Deny), policytest.Instant)
	l.Put(p, "node", "", answering(api.Deny), policytest.Instant)
	for i := range 2 * maxLasts {
		for _, policy := range []*Policy{p, q} {
			l.Put(policy, "flood-"+strconv.Itoa(i), "a", answering(api.Allow), policytest.Instant)
		}
	}
	_, mine := l.get(p, "mine")
	_, nodes := l.get(p, "node")
	_, newest := l.get(q, "flood-"+strconv.Itoa(2*maxLasts-1))
	if !mine || !nodes || !newest || l.total > maxLasts || l.counts["a"] > maxLasts-2 {
		t.Errorf("the others' are kept: %t, %t; the newest: %t; %d of %d are the tenant's", mine, nodes, newest, l.counts["a"], l.total)
	}
}

func TestAVerdictThatIsPushedOutWhileItIsWrittenIsRemovedAgain(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	defer dir.Close()
	l, p := &VerdictCache{}, lasting("p")
	pushed := sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total += maxLasts
		l.shrink()
	})
	l.Load(&evicting{dir.Opinions(), pushed}, slog.New(slog.DiscardHandler))
	l.Put(p, "i", "", answering(api.Allow), policytest.Instant)
	flush(t, l, true)
	flush(t, l, true)
	if all, _ := dir.Opinions().Load(); len(all) > 0 {
		t.Errorf("kept %+v", all)
	}
}

func TestTheVerdictsThatWereNotUsedForLongestAreForgotten(t *testing.T) {
	t.Parallel()
	l, p := &VerdictCache{}, lasting("p")
	for i := range maxLasts + 1 {
		l.Put(p, strconv.Itoa(i), "", answering(api.Allow), policytest.Instant)
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
	l.Put(p, "0", "", &PolicyResult{retryAfter: 1}, policytest.Instant)
	if o, _ := l.get(p, "0"); o.retryAfter != 1 {
		t.Error("a newer verdict does not replace the older one")
	}
}

func TestWhatIsTooMuchIsForgottenOnTheDiskToo(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	defer dir.Close()
	l, p := &VerdictCache{}, lasting("p")
	l.Load(dir.Opinions(), slog.New(slog.DiscardHandler))
	for i := range 10 {
		l.Put(p, strconv.Itoa(i), "", answering(api.Allow), policytest.Instant.Add(time.Duration(i)))
	}
	flush(t, l, true)
	l.total += maxLasts - 4 // as if the cache held so many verdicts
	l.shrink()
	flush(t, l, true)
	all, _ := dir.Opinions().Load()
	if len(all) != 4 || all[0].Instance != "6" {
		t.Errorf("kept %+v", all)
	}
	again := &VerdictCache{}
	again.Load(dir.Opinions(), slog.New(slog.DiscardHandler))
	if _, ok := again.get(p, "9"); !ok || again.total != 4 {
		t.Errorf("%d are known again", again.total)
	}
}

func answering(answer api.Answer) *PolicyResult {
	return &PolicyResult{Opinion: api.Opinion{Answer: answer}}
}

// evicting calls during while verdicts are written, so that a test can evict one.
type evicting struct {
	Opinions
	during func()
}

func (e *evicting) Apply(put []state.LastOpinions, remove []string) error {
	e.during()
	return e.Opinions.Apply(put, remove)
}

// flush writes the verdicts; want is whether that succeeds.
func flush(t *testing.T, l *VerdictCache, want bool) {
	t.Helper()
	if got := l.kept.Flush(); got != want {
		t.Fatalf("the disk has taken them: %t", got)
	}
}

// lasting returns a policy with on_error = "last_verdict".
func lasting(name string) *Policy {
	return &Policy{Document: &spec.Document{Keys: spec.Keys{Name: name, OnError: spec.LastVerdict}}}
}
