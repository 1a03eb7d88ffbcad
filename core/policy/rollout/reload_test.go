package rollout

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

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

func TestStandingStill(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow")
	r := reloaderOf(d)
	fresh := bundle.Read(bundle.Options{Dir: d.Dir})
	now := bundle.Newest(fresh.Stamps)
	r.cfg.Now = func() time.Time { return now }
	at := func(after time.Duration, got *bundle.Bundle, want bool) {
		t.Helper()
		now = now.Add(after)
		if still := r.still(got); still != want {
			t.Errorf("%s later: still = %t, want %t", after, still, want)
		}
	}
	at(0, fresh, false)
	at(SettleTime-10*time.Millisecond, fresh, false)
	at(10*time.Millisecond, fresh, true)
	at(0, &bundle.Bundle{Stamps: fresh.Stamps}, false)
	r = reloaderOf(d)
	r.cfg.Now = func() time.Time { return now }
	at(0, fresh, true)
	// After the clock was set back, a file with a time in the future must still settle.
	now = now.Add(-time.Hour)
	d.Policy("p", "deny")
	changed := bundle.Read(bundle.Options{Dir: d.Dir})
	at(0, changed, false)
	at(SettleTime/2, &bundle.Bundle{Stamps: changed.Stamps}, false)
	at(SettleTime/2, changed, false)
	at(SettleTime/2, changed, true)
}

func TestWhatMayBeOverIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for name, module := range map[string]string{"missing": "p.wasm", "an error of the system": strings.Repeat("x", 300)} {
		d := policytest.NewTree(t)
		d.Write("p.toml", strings.Replace(policytest.DocumentOf("p", "allow"), "p.wasm", module, 1))
		r := reloaderOf(d)
		r.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
		r.poll(t.Context())
		r.watch.Close()
		if want := module == "p.wasm"; r.acted != want {
			t.Errorf("%s: taken for final = %t, want %t", name, r.acted, want)
		}
	}
}

// reloaderOf returns a reloader that does not run.
func reloaderOf(d policytest.Tree) *reloader {
	c := optionsFor(d, policytest.NewScripts())
	return newReloader(&c, &activeSet{dir: d.Dir}, func() {}, func(map[string]bool) {})
}

func TestFilesThatWereThereAreWatchedFromTheFirstReading(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\"")
	d.Write("tests/a.yaml", policytest.ManifestText)
	r := reloaderOf(d)
	r.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
	r.watch.Open = func() (*fswatch.Backend, error) { return nil, errors.New("no watches left") }
	r.poll(t.Context())
	r.watch.Open = fswatch.Inotify
	r.acted = true
	r.poll(t.Context())
	if !r.watch.Started() {
		t.Error("a listing that finds nothing new does not try to watch again")
	}
	r.watch.Close()

	r = reloaderOf(d)
	r.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
	r.poll(t.Context())
	defer r.watch.Close()
	got := r.watch.Dirs()
	slices.Sort(got)
	if diff := cmp.Diff([]string{d.Dir, d.Dir + "/tests"}, got); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
}
