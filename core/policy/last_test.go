package policy

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// diskBubble is bubble with a state directory that was created outside of the bubble.
func diskBubble(t *testing.T, f func(d policytest.Tree, s *policytest.Scripts, disk *policytest.OpinionDisk)) {
	t.Helper()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	t.Cleanup(func() { dir.Close() })
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		f(d, s, &policytest.OpinionDisk{LastOpinions: dir.Opinions()})
	})
}

func TestALastVerdictCountsAfterARestart(t *testing.T) {
	t.Parallel()
	diskBubble(t, func(d policytest.Tree, s *policytest.Scripts, disk *policytest.OpinionDisk) {
		t := d.T
		keep := func(c *Config) { c.Opinions = disk }
		d.Policy("a", "deny-image other", `on_error = "last_verdict"`)
		d.Policy("b", "hold")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
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
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
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
	diskBubble(t, func(d policytest.Tree, s *policytest.Scripts, disk *policytest.OpinionDisk) {
		t := d.T
		d.Policy("a", "hold", `on_error = "last_verdict"`)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			n := 0
			s.Edit = func(_ string, r *wasm.Result) { n++; r.Message = strconv.Itoa(n) }
			for range 3 {
				for _, name := range []string{"x", "y", "z"} {
					ask(t, p, policytest.Question(name))
					time.Sleep(eval.LastsBatch / 5)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			s.Edit = func(_ string, r *wasm.Result) { r.Answer = api.Deny }
			ask(t, p, policytest.Question("y"))
		}, func(c *Config) { c.Opinions = disk })
		if diff := cmp.Diff([]int{3, 1}, disk.Writes); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		for i := range disk.At[1:] {
			if disk.At[i+1].Sub(disk.At[i]) < eval.LastsBatch {
				t.Errorf("written at %v", disk.At)
			}
		}
	})
}

func TestWhatTheDiskDidNotTakeIsWrittenLater(t *testing.T) {
	t.Parallel()
	diskBubble(t, func(d policytest.Tree, s *policytest.Scripts, disk *policytest.OpinionDisk) {
		t := d.T
		d.Policy("a", "deny", `on_error = "last_verdict"`)
		disk.Err = errors.New("disk full")
		life(t, d, s, func(p *Engine, l *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny {
				t.Errorf("verdict %+v", got)
			}
			time.Sleep(5 * eval.LastsRetry)
			if l.Count("the last decisions of policies are not saved; a restart loses them") != 1 {
				t.Errorf("logged %q", l.Lines())
			}
			disk.Mu.Lock()
			disk.Err = nil
			disk.Mu.Unlock()
			time.Sleep(2 * eval.LastsRetry)
			synctest.Wait()
			if all, _ := disk.Load(); len(all) != 1 {
				t.Errorf("kept %+v", all)
			}
		}, func(c *Config) { c.Opinions = disk })
	})
}
