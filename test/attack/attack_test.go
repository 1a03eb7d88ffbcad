package attack

import (
	"flag"
	"reflect"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// rounds is how often a module is asked all its questions: no call may find what an earlier call
// has left behind.
var rounds = flag.Int("rounds", 2, "how often a module is asked everything; make soak takes 3")

// whole makes the interpreter, which is much slower, run endless modules for all of their fuel.
var whole = flag.Bool("whole", false, "give modules on the interpreter all the fuel that they are to use up, as make soak does")

// TestAttacksEndAsTheyMust loads every module into an engine of each kind and asks it all its
// questions, several times. Nothing runs in parallel, so that the resources of each question can be
// measured. Both engines must return the same, to the last unit of fuel.
func TestAttacksEndAsTheyMust(t *testing.T) {
	all := runners(t)
	for _, m := range modules(t) {
		t.Run(m.Name, func(t *testing.T) {
			var first outcomes
			for i, r := range all {
				t.Run(r.name, func(t *testing.T) {
					got := attack(t, r, m)
					checkLog(t, r.log)
					r.neighbour.check(t)
					switch {
					case i == 0:
						first = got
					case t.Failed() || r.endless(m):
					default:
						if err := same(first, got, m, r.fueled(m)); err != nil {
							t.Error(err)
						}
					}
				})
			}
		})
	}
	for _, r := range all {
		if err := r.neighbour.plugin.Close(); err != nil {
			t.Error(err)
		}
	}
}

// attempts is how often a question may exceed its bound before the test fails. The kernel charges a
// process also for time that its host and its neighbours cause; an attack that is not stopped
// exceeds the bound each time.
const attempts = 3

// ask asks p one question, and again if that took more than most. It returns the last outcome and
// the resources that it took.
func ask(t *testing.T, m *Module, p *wasm.Plugin, q *Question, most usage) (outcome Outcome, took usage, err error) {
	t.Helper()
	for range attempts {
		before := used(t)
		if outcome, err = m.Ask(t.Context(), p, q); err != nil {
			return outcome, took, err
		}
		if took = before.since(t); !took.beyond(most) {
			break
		}
	}
	return outcome, took, nil
}

// attack loads a module and asks it all its questions.
func attack(t *testing.T, r *runner, m *Module) outcomes {
	t.Helper()
	m = r.fueled(m)
	if r.endless(m) {
		r.ends(t, m)
		return nil
	}
	begin := opened(t)
	before := used(t)
	p, err := m.Load(t.Context(), r.Engine, m.Name)
	took := before.since(t)
	if err != nil {
		t.Fatal(err)
	}
	if took.cpu > slowdown*time.Duration(r.slower)*maxLoad || took.allocated > maxLoadBytes {
		t.Errorf("loading it took %v and %d bytes", took.cpu, took.allocated)
	}
	var all outcomes
	if p != nil {
		all = questions(t, m, p, r.slower)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if now, leaks := leak(t, begin); leaks {
		t.Errorf("it left something open: %+v, was %+v", now, begin)
	}
	return all
}

// questions asks a plugin all questions. A question must get the same answer each time, to the last
// word.
func questions(t *testing.T, m *Module, p *wasm.Plugin, slower int) outcomes {
	t.Helper()
	all := outcomes{}
	n := *rounds
	if len(m.Questions) > 3 {
		n = 1 // a plugin has a limit of broken instances; more rounds would only wait for it
	}
	for round := range n {
		for i := range m.Questions {
			q := &m.Questions[i]
			key := string(q.Hook) + " asked about " + q.Image
			outcome, took, err := ask(t, m, p, q, bound(m, slower))
			if err != nil {
				t.Error(err)
				continue
			}
			if most := bound(m, slower); took.beyond(most) {
				t.Errorf("asked about %s it took %v (at most %v), %d bytes (at most %d) and %d page faults (at most %d) of %v, %d times",
					q.Image, took.cpu, most.cpu, took.allocated, most.allocated, took.faults, most.faults, faultCPU(), attempts)
			}
			if first, ok := all[key]; ok {
				if !reflect.DeepEqual(outcome, first) {
					t.Errorf("%s:\n%+v\nbefore:\n%+v", key, outcome, first)
				}
			}
			all[key] = outcome
			if round%2 == 1 {
				p.Reset(t.Context())
			}
		}
		if t.Failed() {
			break
		}
	}
	return all
}
