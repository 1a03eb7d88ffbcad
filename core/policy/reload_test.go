package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// listed returns an engine for a synctest bubble. It finds changes by listing only.
func listed(t *testing.T, d policytest.Tree, s *policytest.Scripts, change ...func(*Config)) (*Engine, *policytest.Logs) {
	t.Helper()
	l := &policytest.Logs{}
	c := testConfig(d, s)
	c.Logger = l.Logger()
	for _, f := range change {
		f(&c)
	}
	c.openWatch = func() (*fswatch.Backend, error) { return nil, errors.New("no watches left") }
	return New(c), l
}

// bubble runs a test in a bubble, with a directory that is removed after it.
func bubble(t *testing.T, f func(d policytest.Tree, s *policytest.Scripts)) {
	t.Helper()
	d := policytest.NewTree(t)
	synctest.Test(t, func(t *testing.T) { f(policytest.Tree{T: t, Dir: d.Dir}, policytest.NewScripts()) })
}

// fired reports whether the engine signals that another set came into force.
func fired(p *Engine) bool {
	select {
	case <-p.Changed():
		return true
	default:
		return false
	}
}

func stateOf(d policytest.Tree, p *Engine) string {
	d.T.Helper()
	s := p.Sets()[0]
	var names []string
	for _, policy := range s.Policies {
		names = append(names, policy.Name)
	}
	return fmt.Sprintf("%d %v %s", s.Generation, names, strings.ReplaceAll(s.Refused, d.Dir, "DIR"))
}

func wantState(d policytest.Tree, p *Engine, step, want string, changed bool) {
	d.T.Helper()
	if got := stateOf(d, p); got != want {
		d.T.Errorf("%s: set %q, want %q", step, got, want)
	}
	if got := fired(p); got != changed {
		d.T.Errorf("%s: changed = %t, want %t", step, got, changed)
	}
}

// TestPluginsRestEveryTenSeconds checks this also while files change all the time, which
// causes many ticks of the reloader.
func TestPluginsRestEveryTenSeconds(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		d.Policy("off", "deny")
		d.Write("off.toml", policytest.DocumentOf("off", "deny", "mode = \"off\""))
		p, _ := listed(t, d, s)
		run(t, p)
		for range 35 {
			d.Write("a.toml", policytest.DocumentOf("a", "allow"))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if want := map[string]int{"a": 3}; !maps.Equal(s.Rests, want) {
			t.Errorf("rests %v, want %v", s.Rests, want)
		}
	})
}

func TestTheDirectoryIsFollowed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, l := listed(t, d, s)
		run(t, p)
		next := func() { time.Sleep(rollout.ListPeriod + rollout.SettleTime); synctest.Wait() }

		time.Sleep(rollout.SettleTime)
		synctest.Wait()
		wantState(d, p, "at the start", "1 [a] ", false)

		next()
		wantState(d, p, "nothing changed", "1 [a] ", false)

		d.Policy("b", "deny")
		next()
		wantState(d, p, "a policy came", "2 [a b] ", true)

		d.Write("b.toml", policytest.DocumentOf("b", "deny", "mod = \"off\""))
		next()
		refused := "2 [a b] DIR/b.toml:6: mod: unknown key; did you mean \"mode\"?"
		wantState(d, p, "it was broken", refused, false)

		next()
		wantState(d, p, "it is still broken", refused, false)

		d.Write("b.toml", policytest.DocumentOf("b", "deny"))
		next()
		wantState(d, p, "it is what it was", "2 [a b] ", false)

		policytest.Must(t, os.Rename(d.Dir, d.Dir+"-away"))
		next()
		wantState(d, p, "the directory is missing",
			"2 [a b] the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies", false)
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Deny {
			t.Errorf("verdict %+v without the directory, want that of the set in force", v)
		}

		policytest.Must(t, os.Rename(d.Dir+"-away", d.Dir))
		next()
		wantState(d, p, "the directory is back", "2 [a b] ", false)

		d.Remove("b.toml")
		next()
		wantState(d, p, "a policy went", "3 [a] ", true)

		d.Remove("a.toml")
		next()
		wantState(d, p, "the last one went",
			"3 [a] the policy directory DIR has no policy (*.toml); add one, or take it out of agent.toml to have no policies", false)

		if s.Loads != 2 {
			t.Errorf("%d plugins were loaded for two modules", s.Loads)
		}
		if diff := cmp.Diff([]string{"a"}, s.InUse()); diff != "" {
			t.Errorf("loaded (-want +got):\n%s", diff)
		}
		if n := l.Count("the policies are refused"); n != 3 {
			t.Errorf("%d refusals are logged, want 3:\n%s", n, strings.Join(l.Lines(), "\n"))
		}
		if n := l.Count("the policies are again those in force"); n != 2 {
			t.Errorf("%d ends of refusals are logged, want 2", n)
		}
		if n := l.Count("policies cannot be watched"); n != 1 {
			t.Errorf("it is logged %d times that there is no watch", n)
		}
	})
}

func TestContentThatWasRefusedIsTriedAgainOnlyWhenItChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "trap x", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.Write("a.yaml", policytest.ManifestText)
		p, l := listed(t, d, s)
		run(t, p)
		time.Sleep(time.Minute)
		d.Policy("a", "trap x", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.Loads != 1 || l.Count("the policies are refused") != 1 {
			t.Errorf("%d loads, log:\n%s", s.Loads, strings.Join(l.Lines(), "\n"))
		}
		d.Write("a.yaml", policytest.ManifestText+"# x\n")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.Loads != 2 || l.Count("the policies are refused") != 1 {
			t.Errorf("after a change %d loads, log:\n%s", s.Loads, strings.Join(l.Lines(), "\n"))
		}
	})
}

func TestWhatTheMachineRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for script, test := range map[string]struct{ vector, reason string }{
		"busy":     {"", "the node is busy"},
		"unmapped": {"", "cannot allocate memory"},
		"late":     {"[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"", "ask again later"},
		"unwell":   {"[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"", "cannot allocate memory"},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Write("a.yaml", policytest.ManifestText)
				d.Policy("a", script, test.vector)
				p, l := listed(t, d, s)
				run(t, p)
				time.Sleep(rollout.ListPeriod + time.Second)
				synctest.Wait()
				if s.Loads != 2 || p.Sets()[0].Ready || l.Count(test.reason) != 1 {
					t.Errorf("%d loads, log:\n%s", s.Loads, strings.Join(l.Lines(), "\n"))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if s.Loads != 3 || !p.Sets()[0].Ready {
					t.Errorf("after a minute %d loads, log:\n%s", s.Loads, strings.Join(l.Lines(), "\n"))
				}
			})
		})
	}
}

func TestFilesAreReadOnceTheyStandStill(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, _ := listed(t, d, s)
		run(t, p)
		time.Sleep(rollout.SettleTime)
		synctest.Wait()
		wantState(d, p, "at the start", "1 [a] ", false)

		// An incomplete document may be valid too.
		time.Sleep(rollout.ListPeriod - rollout.SettleTime/2)
		for i := range 20 {
			d.Policy("b", fmt.Sprintf("allow # %d", i))
			time.Sleep(rollout.SettleTime / 2)
		}
		synctest.Wait()
		wantState(d, p, "while it is written", "1 [a] ", false)
		time.Sleep(2 * rollout.SettleTime)
		synctest.Wait()
		wantState(d, p, "when it stands still", "2 [a b] ", true)
	})
}

func TestFilesThatKeepChangingAreRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, l := listed(t, d, s)
		stop := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := 0; ; i++ {
				d.Policy("a", fmt.Sprintf("allow # %d", i))
				select {
				case <-stop:
					return
				case <-time.After(rollout.SettleTime / 2):
				}
			}
		})
		run(t, p)
		time.Sleep(rollout.RestlessTime - time.Second)
		synctest.Wait()
		wantState(d, p, "for a while", "0 [] ", false)
		time.Sleep(10 * time.Second)
		const refused = "the files in DIR keep changing; they are read once they have stood still for 100ms"
		wantState(d, p, "for too long", "0 [] "+refused, false)
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Hold || v.Reason != api.ReasonPoliciesNotReady {
			t.Errorf("verdict %+v, want a hold", v)
		}
		if n := l.Count("the policies are refused"); n != 1 {
			t.Errorf("the refusal is logged %d times", n)
		}
		close(stop)
		writer.Wait()
		time.Sleep(2 * rollout.SettleTime)
		synctest.Wait()
		wantState(d, p, "when they stand still", "1 [a] ", true)
	})
}

func TestWhatWasRefusedBeforeFilesKeptChangingIsToldAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("a.toml", "")
		p, _ := listed(t, d, s)
		run(t, p)
		time.Sleep(rollout.SettleTime)
		synctest.Wait()
		before := stateOf(d, p)
		time.Sleep(rollout.ListPeriod - rollout.SettleTime/2)
		for i := range 300 {
			d.Write("a.toml", fmt.Sprintf("# %d\n", i))
			time.Sleep(rollout.SettleTime / 2)
		}
		synctest.Wait()
		if got := stateOf(d, p); !strings.Contains(got, "keep changing") {
			t.Errorf("set %q while the files change", got)
		}
		d.Write("a.toml", "")
		time.Sleep(2 * rollout.SettleTime)
		synctest.Wait()
		wantState(d, p, "at the end", before, false)
	})
}

func TestTheReloaderEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "wait", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.Write("a.yaml", policytest.ManifestText)
		p, l := listed(t, d, s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		<-s.Waits
		cancel()
		close(s.Free)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		if in := s.InUse(); len(in) > 0 || l.Count("refused") > 0 || fired(p) {
			t.Errorf("still loaded: %v; log: %q", in, l.Lines())
		}
	})
}
