package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// listed is a plane in a bubble of its own time: it finds changes by listing
// only.
func listed(t *testing.T, d tree, s *scripts, change ...func(*Config)) (*Plane, *logs) {
	t.Helper()
	l := &logs{}
	c := testConfig(d, s)
	c.Logger = l.logger()
	for _, f := range change {
		f(&c)
	}
	p := New(c)
	for _, o := range p.owners {
		o.reloader.watch.Open = func() (*fswatch.Backend, error) { return nil, errors.New("no watches left") }
	}
	return p, l
}

// bubble runs a test in a bubble, with a directory that is removed after it.
func bubble(t *testing.T, f func(d tree, s *scripts)) {
	t.Helper()
	d := newTree(t)
	synctest.Test(t, func(t *testing.T) { f(tree{t, d.dir}, newScripts()) })
}

// fired reports whether the plane says that another set came into force.
func fired(p *Plane) bool {
	select {
	case <-p.Changed():
		return true
	default:
		return false
	}
}

func (d tree) state(p *Plane) string {
	d.t.Helper()
	s := p.Sets()[0]
	var names []string
	for _, policy := range s.Policies {
		names = append(names, policy.Name)
	}
	return fmt.Sprintf("%d %v %s", s.Generation, names, strings.ReplaceAll(s.Refused, d.dir, "DIR"))
}

func (d tree) want(p *Plane, step, want string, changed bool) {
	d.t.Helper()
	if got := d.state(p); got != want {
		d.t.Errorf("%s: set %q, want %q", step, got, want)
	}
	if got := fired(p); got != changed {
		d.t.Errorf("%s: changed = %t, want %t", step, got, changed)
	}
}

// However restless the files are, which brings the reloader many ticks.
func TestPluginsRestEveryTenSeconds(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "allow")
		d.policy("off", "deny")
		d.write("off.toml", documentOf("off", "deny", "mode = \"off\""))
		p, _ := listed(t, d, s)
		run(t, p)
		for range 35 {
			d.write("a.toml", documentOf("a", "allow"))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if want := map[string]int{"a": 3}; !maps.Equal(s.rests, want) {
			t.Errorf("rests %v, want %v", s.rests, want)
		}
	})
}

func TestTheDirectoryIsFollowed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "allow")
		p, l := listed(t, d, s)
		run(t, p)
		next := func() { time.Sleep(listPeriod + settleTime); synctest.Wait() }

		time.Sleep(settleTime)
		synctest.Wait()
		d.want(p, "at the start", "1 [a] ", false)

		next()
		d.want(p, "nothing changed", "1 [a] ", false)

		d.policy("b", "deny")
		next()
		d.want(p, "a policy came", "2 [a b] ", true)

		d.write("b.toml", documentOf("b", "deny", "mod = \"off\""))
		next()
		refused := "2 [a b] DIR/b.toml:6: mod: unknown key; did you mean \"mode\"?"
		d.want(p, "it was broken", refused, false)

		next()
		d.want(p, "it is still broken", refused, false)

		d.write("b.toml", documentOf("b", "deny"))
		next()
		d.want(p, "it is what it was", "2 [a b] ", false)

		must(t, os.Rename(d.dir, d.dir+"-away"))
		next()
		d.want(p, "the directory is missing",
			"2 [a b] the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies", false)
		if v := ask(t, p, question("web")); v.Answer != api.Deny {
			t.Errorf("verdict %+v without the directory, want that of the set in force", v)
		}

		must(t, os.Rename(d.dir+"-away", d.dir))
		next()
		d.want(p, "the directory is back", "2 [a b] ", false)

		d.remove("b.toml")
		next()
		d.want(p, "a policy went", "3 [a] ", true)

		d.remove("a.toml")
		next()
		d.want(p, "the last one went",
			"3 [a] the policy directory DIR has no policy (*.toml); add one, or take it out of agent.toml to have no policies", false)

		if s.loads != 2 {
			t.Errorf("%d plugins were loaded for two modules", s.loads)
		}
		if diff := cmp.Diff([]string{"a"}, s.inUse()); diff != "" {
			t.Errorf("loaded (-want +got):\n%s", diff)
		}
		if n := l.count("the policies are refused"); n != 3 {
			t.Errorf("%d refusals are logged, want 3:\n%s", n, strings.Join(l.lines(), "\n"))
		}
		if n := l.count("the policies are again those in force"); n != 2 {
			t.Errorf("%d ends of refusals are logged, want 2", n)
		}
		if n := l.count("policies cannot be watched"); n != 1 {
			t.Errorf("it is logged %d times that there is no watch", n)
		}
	})
}

func TestContentThatWasRefusedIsTriedAgainOnlyWhenItChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "trap x", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.write("a.yaml", manifestText)
		p, l := listed(t, d, s)
		run(t, p)
		time.Sleep(time.Minute)
		d.policy("a", "trap x", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.loads != 1 || l.count("the policies are refused") != 1 {
			t.Errorf("%d loads, log:\n%s", s.loads, strings.Join(l.lines(), "\n"))
		}
		d.write("a.yaml", manifestText+"# x\n")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.loads != 2 || l.count("the policies are refused") != 1 {
			t.Errorf("after a change %d loads, log:\n%s", s.loads, strings.Join(l.lines(), "\n"))
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
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				d.write("a.yaml", manifestText)
				d.policy("a", script, test.vector)
				p, l := listed(t, d, s)
				run(t, p)
				time.Sleep(listPeriod + time.Second)
				synctest.Wait()
				if s.loads != 2 || p.Sets()[0].Ready || l.count(test.reason) != 1 {
					t.Errorf("%d loads, log:\n%s", s.loads, strings.Join(l.lines(), "\n"))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if s.loads != 3 || !p.Sets()[0].Ready {
					t.Errorf("after a minute %d loads, log:\n%s", s.loads, strings.Join(l.lines(), "\n"))
				}
			})
		})
	}
}

func TestFilesAreReadOnceTheyStandStill(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "allow")
		p, _ := listed(t, d, s)
		run(t, p)
		time.Sleep(settleTime)
		synctest.Wait()
		d.want(p, "at the start", "1 [a] ", false)

		// A prefix of a document is a document too.
		time.Sleep(listPeriod - settleTime/2)
		for i := range 20 {
			d.policy("b", fmt.Sprintf("allow # %d", i))
			time.Sleep(settleTime / 2)
		}
		synctest.Wait()
		d.want(p, "while it is written", "1 [a] ", false)
		time.Sleep(2 * settleTime)
		synctest.Wait()
		d.want(p, "when it stands still", "2 [a b] ", true)
	})
}

func TestFilesThatKeepChangingAreRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "allow")
		p, l := listed(t, d, s)
		stop := make(chan struct{})
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := 0; ; i++ {
				d.policy("a", fmt.Sprintf("allow # %d", i))
				select {
				case <-stop:
					return
				case <-time.After(settleTime / 2):
				}
			}
		})
		run(t, p)
		time.Sleep(restlessTime - time.Second)
		synctest.Wait()
		d.want(p, "for a while", "0 [] ", false)
		time.Sleep(10 * time.Second)
		const refused = "the files in DIR keep changing; they are read once they have stood still for 100ms"
		d.want(p, "for too long", "0 [] "+refused, false)
		if v := ask(t, p, question("web")); v.Answer != api.Hold || v.Reason != api.ReasonPoliciesNotReady {
			t.Errorf("verdict %+v, want a hold", v)
		}
		if n := l.count("the policies are refused"); n != 1 {
			t.Errorf("the refusal is logged %d times", n)
		}
		close(stop)
		writer.Wait()
		time.Sleep(2 * settleTime)
		synctest.Wait()
		d.want(p, "when they stand still", "1 [a] ", true)
	})
}

func TestWhatWasRefusedBeforeFilesKeptChangingIsToldAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.write("a.toml", "")
		p, _ := listed(t, d, s)
		run(t, p)
		time.Sleep(settleTime)
		synctest.Wait()
		before := d.state(p)
		time.Sleep(listPeriod - settleTime/2)
		for i := range 300 {
			d.write("a.toml", fmt.Sprintf("# %d\n", i))
			time.Sleep(settleTime / 2)
		}
		synctest.Wait()
		if got := d.state(p); !strings.Contains(got, "keep changing") {
			t.Errorf("set %q while the files change", got)
		}
		d.write("a.toml", "")
		time.Sleep(2 * settleTime)
		synctest.Wait()
		d.want(p, "at the end", before, false)
	})
}

// reloader is one that nobody runs.
func (d tree) reloader() *reloader {
	c := testConfig(d, newScripts())
	return newReloader(&c, &standing{dir: d.dir}, func() {}, func(map[string]bool) {})
}

func TestStandingStill(t *testing.T) {
	t.Parallel()
	d := newTree(t)
	d.policy("p", "allow")
	r := d.reloader()
	fresh := read(&Config{Dir: d.dir})
	now := newest(fresh.stamps)
	r.cfg.Now = func() time.Time { return now }
	at := func(after time.Duration, got *reading, want bool) {
		t.Helper()
		now = now.Add(after)
		if still := r.still(got); still != want {
			t.Errorf("%s later: still = %t, want %t", after, still, want)
		}
	}
	at(0, fresh, false)
	at(settleTime-10*time.Millisecond, fresh, false)
	at(10*time.Millisecond, fresh, true)
	at(0, &reading{stamps: fresh.stamps}, false)
	r = d.reloader()
	r.cfg.Now = func() time.Time { return now }
	at(0, fresh, true)
	// The clock went back: what was changed in the future is waited for.
	now = now.Add(-time.Hour)
	d.policy("p", "deny")
	changed := read(&Config{Dir: d.dir})
	at(0, changed, false)
	at(settleTime/2, &reading{stamps: changed.stamps}, false)
	at(settleTime/2, changed, false)
	at(settleTime/2, changed, true)
}

func TestWhatMayBeOverIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for name, module := range map[string]string{"missing": "p.wasm", "an error of the system": strings.Repeat("x", 300)} {
		d := newTree(t)
		d.write("p.toml", strings.Replace(documentOf("p", "allow"), "p.wasm", module, 1))
		r := d.reloader()
		r.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
		r.look(t.Context())
		r.watch.Close()
		if want := module == "p.wasm"; r.acted != want {
			t.Errorf("%s: taken for final = %t, want %t", name, r.acted, want)
		}
	}
}

func TestManyFaultsAreToldInBounds(t *testing.T) {
	t.Parallel()
	lines := make([]string, maxReasons+7)
	for i := range lines {
		lines[i] = strconv.Itoa(i)
	}
	got := strings.Split(bounded(errors.New(strings.Join(lines, "\n"))).Error(), "\n")
	if want := append(slices.Clone(lines[:maxReasons]), "and more"); !slices.Equal(got, want) {
		t.Errorf("%d lines that end in %q", len(got), got[len(got)-1])
	}
	if got := bounded(errors.New("one\ntwo")).Error(); got != "one\ntwo" {
		t.Errorf("error %q", got)
	}
}

func TestTheReloaderEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "wait", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.write("a.yaml", manifestText)
		p, l := listed(t, d, s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		<-s.waits
		cancel()
		close(s.free)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		if in := s.inUse(); len(in) > 0 || l.count("refused") > 0 || fired(p) {
			t.Errorf("still loaded: %v; log: %q", in, l.lines())
		}
	})
}
