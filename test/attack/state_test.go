package attack

import (
	"strings"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// hiding returns the modules that look for state and are not refused.
func hiding(t *testing.T) (all []*Module) {
	t.Helper()
	for _, m := range modules(t) {
		if strings.HasPrefix(m.Name, "state-") && m.Refused == nil {
			all = append(all, m)
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d modules look for state", len(all))
	}
	return all
}

// load loads a module that must not be refused, for a policy of that name.
func load(t *testing.T, e *wasm.Engine, m *Module, policy string) *wasm.Plugin {
	t.Helper()
	p, err := m.Load(t.Context(), e, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// closed closes a plugin.
func closed(t *testing.T, p *wasm.Plugin) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestNothingSurvivesACallAmongMany asks a plugin from many goroutines, so that calls reuse
// instances in any order.
func TestNothingSurvivesACallAmongMany(t *testing.T) {
	const goroutines, times = 4, 10
	e, log := engine(t, patient)
	for _, m := range hiding(t) {
		t.Run(m.Name, func(t *testing.T) {
			n := times
			for i := range m.Questions {
				switch m.Questions[i].Want.Code {
				case abi.Trap, abi.MemoryLimit, abi.StackLimit:
					n = 1 // each call loses an instance, and their number is limited
				}
			}
			p := load(t, e, m, m.Name)
			defer closed(t, p)
			var group sync.WaitGroup
			for range goroutines {
				group.Go(func() {
					for range n {
						for i := range m.Questions {
							if _, err := m.Ask(t.Context(), p, &m.Questions[i]); err != nil {
								t.Error(err)
							}
						}
						p.Reset(t.Context())
					}
				})
			}
			group.Wait()
			log.take() // lines of several calls are mixed
		})
	}
}

// TestPoliciesOfOneModuleShareNothing lets one policy write, and another policy of the same module
// look. The two share code.
func TestPoliciesOfOneModuleShareNothing(t *testing.T) {
	e, log := engine(t, patient)
	for _, m := range hiding(t) {
		t.Run(m.Name, func(t *testing.T) {
			writer, reader := load(t, e, m, "writer"), load(t, e, m, "reader")
			defer closed(t, writer)
			defer closed(t, reader)
			for range 2 {
				for i := range m.Questions {
					p := writer
					if m.Questions[i].Image == look {
						p = reader
					}
					if _, err := m.Ask(t.Context(), p, &m.Questions[i]); err != nil {
						t.Error(err)
					}
				}
			}
			checkLog(t, log)
		})
	}
}

// TestAnotherPluginOfAModuleComesOutTheSame loads each module again: the new plugin must not find
// anything that a closed one did.
func TestAnotherPluginOfAModuleComesOutTheSame(t *testing.T) {
	e, log := engine(t, patient)
	for _, m := range hiding(t) {
		for range 2 {
			if err := m.Play(t.Context(), e, 1); err != nil {
				t.Error(err)
			}
		}
		checkLog(t, log)
	}
}

// TestNothingSurvivesThousandsOfCalls runs until the way in which memory is reset has changed,
// because that depends on what calls write.
func TestNothingSurvivesThousandsOfCalls(t *testing.T) {
	e, log := engine(t, patient)
	for name, times := range map[string]int{"state-memory": 4500, "state-globals": 4500, "state-memory-whole": 500, "state-after-fuel": 500} {
		t.Run(name, func(t *testing.T) {
			m := named(t, name)
			p := load(t, e, m, m.Name)
			defer closed(t, p)
			for i := range times {
				for q := range m.Questions {
					if _, err := m.Ask(t.Context(), p, &m.Questions[q]); err != nil {
						t.Fatalf("in round %d: %v", i, err)
					}
				}
				if i%2 == 0 {
					p.Reset(t.Context())
				}
			}
			checkLog(t, log)
		})
	}
}
