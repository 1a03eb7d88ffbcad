package plane

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/condition"
)

const (
	// stormPods is how many pods there are at once, at most.
	stormPods = 200
	// inForce is how soon a valid content must be in force, or the last valid one be
	// in force again.
	inForce = 2 * time.Second
	// calmNumber is the number of the first set after the rewrites.
	calmNumber = 10_001
	// stormGrowth is how many more bytes live objects and snapshots may use at the end than
	// after the first ten seconds, and stormResidue how many more bytes may be resident. The
	// fragmentation of Go's heap differs each time, by 1 to 6 MiB.
	stormGrowth  = 1 << 20
	stormResidue = 8 << 20
)

// rewrites is how often the directory is rewritten.
var rewrites = flag.Int("rewrites", 200, "how often the directory is rewritten; make soak takes 1000")

// storm writes the operator's directory, and records what it wrote.
type storm struct {
	*rig
	dir    string
	random *rand.Rand
	kinds  []string
	number int
	broken int
}

// TestAStorm rewrites the operator's directory again and again for some seconds while pods come
// and go. Every third content is broken, each time in another way.
func TestAStorm(t *testing.T) {
	home := t.TempDir()
	commits := *rewrites / 10
	if raced {
		commits = *rewrites / 15
	}
	s := &storm{dir: filepath.Join(home, "operator"), random: rand.New(rand.NewPCG(1, 2))}
	s.kinds = slices.Sorted(maps.Keys(faults))
	theirs := filepath.Join(home, "a")
	for _, dir := range []string{s.dir, theirs} {
		must(t, os.Mkdir(dir, 0o700))
	}
	good(0, 0).put(t, s.dir, false)
	good(0, 0).put(t, theirs, false)
	s.rig = newRig(t, s.dir, policy.Tenant{Name: "a", Dir: theirs, Owns: namespaces("a")})
	known := words{}
	s.gate.check = func(q *api.Question, v *api.Verdict) error {
		if namespaces("a")(q.Pod.Namespace) {
			return known.check(v, "a", "")
		}
		return known.check(v, "")
	}
	s.ready(t, "a")
	// The first condition creates CEL's language environment, which stays in memory.
	if _, err := condition.Compile("true"); err != nil {
		t.Fatal(err)
	}

	var removed map[types.UID]bool
	var present []api.Document
	enough := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() { present, removed = s.churn(t, enough) })
	begun, before := time.Now(), s.set("").Generation
	var first usage
	for s.number < *rewrites {
		if first.files == 0 && time.Since(begun) > 10*time.Second {
			first = s.calm(t)
		}
		if s.number%200 < 15 {
			s.rewrite(t, 60*time.Millisecond) // the files change all the time
		} else {
			s.gust(t)
		}
	}
	took := time.Since(begun)
	close(enough)
	churn.Wait()

	last := s.calm(t)
	committed := s.set("").Generation - before
	digest := s.set("").Digest
	worst := good(calmNumber-1, 1)
	faults["a test that fails"](&worst, s.number)
	worst.put(t, s.dir, false)
	time.Sleep(inForce)
	if now := s.set(""); now.Digest != digest || now.Refused == "" {
		t.Errorf("after a last broken write the set is %+v, want %s", now, digest)
	}
	s.judgeStream(t, present, removed)
	t.Logf("%d rewrites, %d of them broken, in %s: %d sets came into force; %d questions\nafter ten seconds %s\nat the end        %s",
		s.number, s.broken, took.Round(time.Second), committed, s.gate.asked, first, last)
	if committed < commits {
		t.Errorf("%d sets came into force, want %d", committed, commits)
	}
	grown := last.heap+last.guests > first.heap+first.guests+stormGrowth || last.resident > first.resident+stormResidue
	if last.goroutines > first.goroutines || last.files > first.files || !raced && grown {
		t.Errorf("at the end there are %s; after ten seconds %s", last, first)
	}
	s.judgeDisk(t)
}

// rewrite writes the next content, and waits.
func (s *storm) rewrite(t *testing.T, pause time.Duration) {
	t.Helper()
	s.number++
	// Most sets allow, some hold or deny.
	c := good(s.number, max(0, s.random.IntN(10)-7))
	if s.number%3 == 0 {
		faults[s.kinds[s.broken%len(s.kinds)]](&c, s.number)
		s.broken++
	}
	c.put(t, s.dir, s.random.IntN(4) == 0)
	time.Sleep(pause)
}

// gust writes some contents in quick succession, and then leaves time to read the
// last one.
func (s *storm) gust(t *testing.T) {
	t.Helper()
	for range 1 + s.random.IntN(7) {
		if s.number == *rewrites {
			break
		}
		s.rewrite(t, 10*time.Millisecond)
	}
	time.Sleep(190 * time.Millisecond)
}

// calm writes a valid content, checks that it comes into force in time and that all questions
// are answered, and then returns the resources of the process.
func (s *storm) calm(t *testing.T) usage {
	t.Helper()
	before := s.set("").Generation
	good(calmNumber+8*s.number, 0).put(t, s.dir, false) // with the same modules each time
	eventually(t, inForce, func() string {
		if now := s.set(""); now.Generation == before || now.Refused != "" {
			return fmt.Sprintf("the last good content is not in force: %+v", now)
		}
		return ""
	})
	eventually(t, 10*time.Second, func() string {
		if n := s.gate.open(); n > 0 {
			return fmt.Sprintf("%d questions have no answer", n)
		}
		return ""
	})
	return used(t)
}

// churn adds and removes pods until enough is closed. Then it returns the documents that
// are present, and the pods that were removed.
func (s *storm) churn(t *testing.T, enough <-chan struct{}) (present []api.Document, removed map[types.UID]bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	there, lives := map[int]api.Document{}, map[int]int{}
	removed = make(map[types.UID]bool, bookkeeping)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	if err := s.source.Replace(t.Context(), nil); err != nil {
		t.Error(err)
	}
	for {
		select {
		case <-enough:
			return slices.Collect(maps.Values(there)), removed
		case <-tick.C:
		}
		var come []api.Document
		var gone []string
		for _, i := range random.Perm(stormPods)[:10] {
			if d, ok := there[i]; ok {
				gone = append(gone, path(&d))
				removed[d.Pod.UID] = true
				delete(there, i)
				continue
			}
			lives[i]++
			namespace := []string{"shop", "a-shop"}[i%2]
			there[i] = document(namespace, fmt.Sprintf("pod-%d", i), "image", lives[i])
			come = append(come, there[i])
		}
		if err := s.source.Apply(t.Context(), come, gone); err != nil {
			t.Error(err)
			return nil, nil
		}
	}
}

// judgeStream checks the changes that the pods caused: pods that are present run, pods
// that were admitted were never revoked, and no change was sent twice.
func (s *storm) judgeStream(t *testing.T, present []api.Document, removed map[types.UID]bool) {
	t.Helper()
	for i := range present {
		if uid := present[i].Pod.UID; s.stream.answer(uid) != api.Allow {
			t.Errorf("pod %s is there and does not run: %q", uid, s.stream.answer(uid))
		}
	}
	s.stop()
	for uid := range s.stream.has {
		if removed[uid] {
			t.Errorf("pod %s is gone and was handed on", uid)
		}
	}
	for uid := range s.stream.ended {
		if !removed[uid] {
			t.Errorf("pod %s was admitted, and ended although it was wanted", uid)
		}
	}
	if len(s.stream.admitted) < stormPods {
		t.Errorf("only %d pods came and went", len(s.stream.admitted))
	}
	for _, fault := range append(s.stream.faults, s.gate.faults...) {
		t.Error(fault)
	}
}

// judgeDisk checks which of the operator's sets are stored.
func (s *storm) judgeDisk(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.home, "state", "policies", "operator"))
	must(t, err)
	if len(entries) != 2 {
		t.Errorf("the contents of %d sets are kept, want that in force and the one before: %v", len(entries), entries)
	}
}
