package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// forms are the forms for which scripts are checked.
var forms = map[string]form{
	"half a minute": formFor(30 * time.Second), "a minute": formFor(time.Minute), "ten minutes": formFor(10 * time.Minute),
}

// pods returns the pods of a form: make test uses half a minute with few pods.
func pods(f form) []*shape {
	if f == forms["half a minute"] {
		return fewer(shapes(), 3)
	}
	return shapes()
}

// eachScript calls check for many scripts.
func eachScript(t *testing.T, check func(t *testing.T, f form, script [][]step)) {
	t.Helper()
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(50) {
				check(t, f, newScript(f, seed, pods(f)))
				if t.Failed() {
					t.Fatalf("with seed %d", seed)
				}
			}
		})
	}
}

func TestFiftyPodsAreAskedFor(t *testing.T) {
	t.Parallel()
	if got := len(newLedger(shapes(), time.Now()).order); got != 50 {
		t.Errorf("%d pods", got)
	}
}

func TestAFormTakesAboutAsLongAsAsked(t *testing.T) {
	t.Parallel()
	for _, asked := range []time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute, time.Hour} {
		f := formFor(asked)
		took := time.Duration(f.rounds) * (f.disturb + f.settle)
		if took < asked*8/10 || took > asked*11/10 || f.freeze > f.disturb {
			t.Errorf("for %s: %+v, %s", asked, f, took)
		}
	}
	if f := formFor(10 * time.Minute); f.freeze != 30*time.Second || f.settle != 10*time.Second {
		t.Errorf("ten minutes are %+v", f)
	}
}

func TestOneSeedIsOneScript(t *testing.T) {
	t.Parallel()
	for name, f := range forms {
		if diff := cmp.Diff(newScript(f, 7, shapes()), newScript(f, 7, shapes())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if cmp.Equal(newScript(f, 7, shapes()), newScript(f, 8, shapes())) {
			t.Errorf("%s: two seeds, one script", name)
		}
	}
}

func TestARoundIsInOrderAndEndsWithAgentAndRuntimeUpAndAPolicyThatCanBeRead(t *testing.T) {
	t.Parallel()
	eachScript(t, func(t *testing.T, f form, script [][]step) {
		t.Helper()
		for _, steps := range script {
			agent, runtime, policy := true, true, true
			for i, s := range steps {
				if s.At < 0 || s.At > f.disturb || i > 0 && s.At < steps[i-1].At {
					t.Fatalf("at %s: %s", s.At, &s)
				}
				switch s.Kind {
				case killAgent, endAgent, startAgent:
					if agent != (s.Kind != startAgent) {
						t.Fatalf("at %s: %s, while it runs: %t", s.At, &s, agent)
					}
					agent = s.Kind == startAgent
				case killRuntime, freezeRuntime, resumeRuntime, thawRuntime:
					up := s.Kind == resumeRuntime || s.Kind == thawRuntime
					if runtime == up {
						t.Fatalf("at %s: %s, while it works: %t", s.At, &s, runtime)
					}
					runtime = up
				case editPolicy, breakPolicy:
					policy = s.Kind == editPolicy
				}
			}
			if !agent || !runtime || !policy {
				t.Fatalf("at the end: agent %t, runtime %t, policy %t", agent, runtime, policy)
			}
		}
	})
}

func TestTheLastAgentLivesThroughMostOfTheLastRound(t *testing.T) {
	t.Parallel()
	eachScript(t, func(t *testing.T, f form, script [][]step) {
		t.Helper()
		for _, s := range script[len(script)-1] {
			if s.At > f.disturb/3 && (s.Kind == killAgent || s.Kind == endAgent) {
				t.Fatalf("at %s of %s: %s", s.At, f.disturb, &s)
			}
		}
	})
}

func TestSteadyPodsAreLeftAlone(t *testing.T) {
	t.Parallel()
	eachScript(t, func(t *testing.T, _ form, script [][]step) {
		t.Helper()
		for _, s := range slices.Concat(script...) {
			if strings.HasPrefix(s.Pod, "steady-") || strings.HasPrefix(s.Pod, "stand-") {
				t.Fatal(&s)
			}
		}
	})
	for _, list := range lists {
		if !slices.Contains(list.images, imageOne) {
			t.Errorf("the image of steady pods does not pass where %s", list.what)
		}
	}
}

func TestManifestsAreChangedOnlyAsTheyAre(t *testing.T) {
	t.Parallel()
	eachScript(t, func(t *testing.T, f form, script [][]step) {
		t.Helper()
		l := newLedger(pods(f), time.Unix(0, 0))
		for i, s := range slices.Concat(script...) {
			w := l.wish(s.Pod)
			switch s.Kind {
			case removeManifest, breakManifest:
				if !w.present() || s.File != w.file {
					t.Fatalf("%s, file %s, of %+v", &s, s.File, w)
				}
			case editManifest, rewriteManifest, moveManifest:
				again := slices.ContainsFunc(w.eras, func(e era) bool { return e.version == s.Version })
				if s.Version < 1 || s.Image == "" || s.File == "" || again && (w.present() || w.shape.ends) {
					t.Fatalf("%s of %+v", &s, w)
				}
			}
			l.note(&s, time.Unix(int64(i), 0))
		}
		there := 0
		for _, name := range l.order {
			if l.wish(name).present() {
				there++
			}
		}
		if there < fewest(len(l.order)) {
			t.Fatalf("only %d pods are asked for", there)
		}
	})
}

func TestTenMinutesHaveEveryKindOfDisturbance(t *testing.T) {
	t.Parallel()
	count := map[kind]int{}
	for _, s := range slices.Concat(newScript(forms["ten minutes"], 1, shapes())...) {
		count[s.Kind]++
	}
	for _, k := range []kind{
		killAgent, endAgent, killRuntime, freezeRuntime, killShim, killProcess, killSandbox, stopContainer,
		editManifest, rewriteManifest, moveManifest, removeManifest, breakManifest, editPolicy, breakPolicy,
	} {
		if count[k] < 3 {
			t.Errorf("%d times: %s", count[k], k)
		}
	}
}

func TestAMinuteHasAFreezeAndKillsOfAgentAndRuntime(t *testing.T) {
	t.Parallel()
	eachScript(t, func(t *testing.T, _ form, script [][]step) {
		t.Helper()
		for _, want := range [][]kind{{freezeRuntime}, {killRuntime}, {killAgent, endAgent}} {
			if !slices.ContainsFunc(slices.Concat(script...), func(s step) bool { return slices.Contains(want, s.Kind) }) {
				t.Fatalf("no %v", want)
			}
		}
	})
}
