package attack

import (
	"reflect"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// rounds is how often a module is asked everything: what a call leaves behind,
// one of the next must not find.
const rounds = 3

// TestAttacksEndAsTheyMust loads every module into one engine and asks it
// everything, several times. Nothing runs beside it, so that what each takes
// can be told.
func TestAttacksEndAsTheyMust(t *testing.T) {
	all := modules(t)
	e, log := engine(t, patient)
	n := settle(t, e)
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			attack(t, e, m)
			checkLog(t, log)
			n.check(t)
		})
	}
	if err := n.plugin.Close(); err != nil {
		t.Error(err)
	}
}

// attack loads a module and asks it everything.
func attack(t *testing.T, e *wasm.Engine, m *Module) {
	t.Helper()
	begin := opened(t)
	before := used(t)
	p, err := m.Load(t.Context(), e, m.Name)
	took := before.since(t)
	if err != nil {
		t.Fatal(err)
	}
	if took.cpu > slowdown*maxLoad || took.allocated > maxLoadBytes {
		t.Errorf("loading it took %v and %d bytes", took.cpu, took.allocated)
	}
	if p != nil {
		questions(t, m, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if now, leaks := leak(t, begin); leaks {
		t.Errorf("it left something open: %+v, was %+v", now, begin)
	}
}

// questions asks a plugin everything. A question gets the same answer each
// time, to the last word.
func questions(t *testing.T, m *Module, p *wasm.Plugin) {
	t.Helper()
	outcomes := map[string]Outcome{}
	n := rounds
	if len(m.Questions) > 3 {
		n = 1 // more broken instances than a plugin gets at once would only take time
	}
	for round := range n {
		for i := range m.Questions {
			q := &m.Questions[i]
			before := used(t)
			outcome, err := q.Ask(t.Context(), p)
			took := before.since(t)
			if err != nil {
				t.Error(err)
				continue
			}
			if most := bound(m); took.cpu > most.cpu || took.allocated > most.allocated {
				t.Errorf("asked about %s it took %v (at most %v) and %d bytes (at most %d)", q.Image, took.cpu, most.cpu, took.allocated, most.allocated)
			}
			if first, ok := outcomes[q.Image]; ok && !reflect.DeepEqual(outcome, first) {
				t.Errorf("asked about %s:\n%+v\nbefore:\n%+v", q.Image, outcome, first)
			}
			outcomes[q.Image] = outcome
			if round%2 == 1 {
				p.Settle(t.Context())
			}
		}
		if t.Failed() {
			return
		}
	}
}
