package policy

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state"
)

// keeping returns a configuration change that stores sets in a state directory, and the
// store.
func keeping(t *testing.T) (func(*Config), state.PolicySets) {
	t.Helper()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	t.Cleanup(func() { dir.Close() })
	return func(c *Config) { c.Kept, c.Version = dir.PolicySets(), "v1" }, dir.PolicySets()
}

// life runs an engine until during returns, as one process would.
func life(t *testing.T, d policytest.Tree, s *policytest.Scripts, during func(p *Engine, l *policytest.Logs), change ...func(*Config)) {
	t.Helper()
	p, l := listed(t, d, s, change...)
	stop := run(t, p)
	during(p, l)
	stop()
}

// keptBubble is bubble with a state directory that was created outside of the bubble.
func keptBubble(t *testing.T, f func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets)) {
	t.Helper()
	keep, kept := keeping(t)
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) { f(d, s, keep, kept) })
}

func TestTheLastGoodSetIsInForceAfterARestart(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(d policytest.Tree){
		"where the directory is missing": func(d policytest.Tree) { policytest.Must(d.T, os.RemoveAll(d.Dir)) },
		"where it is empty": func(d policytest.Tree) {
			d.Remove("a.toml")
			d.Remove("a.wasm")
		},
		"where a policy is broken":                    func(d policytest.Tree) { d.Write("a.toml", "api = 1") },
		"where a module is another than it should be": func(d policytest.Tree) { d.Write("a.wasm", "allow") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
				t := d.T
				d.Policy("a", "deny Why", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"deny\"")
				d.Write("tests/a.yaml", policytest.ManifestText)
				life(t, d, s, func(p *Engine, _ *policytest.Logs) { ask(t, p, policytest.Question("web")) }, keep)
				breakIt(d)
				life(t, d, s, func(p *Engine, l *policytest.Logs) {
					if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny || got.Reason != "Why" {
						t.Errorf("verdict %+v, want that of the set before", got)
					}
					synctest.Wait()
					set := p.Sets()[0]
					if !set.Ready || set.Generation != 2 || set.Refused == "" {
						t.Errorf("set %+v", set)
					}
					if l.Count("the last good policies are in force") != 1 || l.Count("the policies are refused") != 1 {
						t.Errorf("logged %q", l.Lines())
					}
					policytest.Must(t, os.MkdirAll(d.Dir, 0o700))
					d.Policy("a", "allow")
					<-p.Changed()
					if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow {
						t.Errorf("verdict %+v after it was mended", got)
					}
				}, keep)
			})
		})
	}
}

func TestAContentThatWasRefusedIsNotTriedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("a", "allow", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.Write("a.yaml", policytest.ManifestText)
		var reason string
		held := func(p *Engine, _ *policytest.Logs) {
			t.Helper()
			if got := ask(t, p, policytest.Question("web")); got.Reason != api.ReasonPoliciesNotReady {
				t.Errorf("verdict %+v", got)
			}
			if now := p.Sets()[0].Refused; reason != "" && now != reason {
				t.Errorf("refused for %s, and before for %s", now, reason)
			} else if reason = now; !strings.Contains(reason, "want deny, got allow") {
				t.Errorf("refused for %s", reason)
			}
		}
		for version, loads := range map[string]int{"v1": 1} {
			life(t, d, s, held, keep)
			life(t, d, s, held, keep)
			if s.Loads != loads {
				t.Errorf("%s: loaded %d times", version, s.Loads)
			}
		}
		life(t, d, s, held, keep, func(c *Config) { c.Version = "v2" })
		if s.Loads != 2 {
			t.Errorf("loaded %d times, want once more by another version", s.Loads)
		}
	})
}

func TestTheSetInForceAndTheOneBeforeAreKept(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		content, err := kept.Content("")
		policytest.Must(t, err)
		policytest.Must(t, os.MkdirAll(filepath.Join(content, "0123.new"), 0o700))
		var digests []string
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			for _, answer := range []string{"allow", "deny", "hold"} {
				d.Policy("a", answer)
				time.Sleep(time.Minute)
				digests = append(digests, p.Sets()[0].Digest)
			}
		}, keep)
		record, err := kept.Load("")
		if want := []string{digests[2], digests[1]}; err != nil || !slices.Equal(record.Good, want) || record.Generation != 3 {
			t.Errorf("kept %+v, %v; want %q", record, err, want)
		}
		entries, err := os.ReadDir(content)
		if err != nil || len(entries) != 2 {
			t.Errorf("%d contents are kept: %v, %v", len(entries), entries, err)
		}
	})
}

func TestAKeptSetThatWasChangedIsNotBroughtBack(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		d.Policy("a", "deny")
		var digest string
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			ask(t, p, policytest.Question("web"))
			digest = p.Sets()[0].Digest
		}, keep)
		content, err := kept.Content("")
		policytest.Must(t, err)
		policytest.Must(t, os.WriteFile(filepath.Join(content, digest, "a.toml"), []byte(policytest.DocumentOf("a", "allow")), 0o600))
		policytest.Must(t, os.RemoveAll(d.Dir))
		life(t, d, s, func(p *Engine, l *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Reason != api.ReasonPoliciesNotReady {
				t.Errorf("verdict %+v", got)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if l.Count("policies that were kept cannot be brought back") != 1 || l.Count("does not hold what its name says") != 1 {
				t.Errorf("logged %q", l.Lines())
			}
		}, keep)
	})
}

func TestAKeptSetThatWasDamagedIsKeptAnew(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		d.Policy("a", "deny Why")
		var digest string
		judge := func(p *Engine, _ *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny || got.Reason != "Why" {
				t.Errorf("verdict %+v", got)
			}
			digest = p.Sets()[0].Digest
		}
		life(t, d, s, judge, keep)
		content, err := kept.Content("")
		policytest.Must(t, err)
		policytest.Must(t, os.Truncate(filepath.Join(content, digest, "a.wasm"), 0))
		life(t, d, s, judge, keep)
		policytest.Must(t, os.RemoveAll(d.Dir))
		life(t, d, s, judge, keep)
		if entries, err := os.ReadDir(content); err != nil || len(entries) != 1 {
			t.Errorf("%d contents are kept: %v, %v", len(entries), entries, err)
		}
	})
}

func TestAKeptSetThatTheMachineKeepsOutIsBroughtBackLater(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"busy", "unmapped"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
				t := d.T
				d.Policy("a", script)
				s.Faults = 2
				life(t, d, s, func(p *Engine, _ *policytest.Logs) { ask(t, p, policytest.Question("web")) }, keep)
				d.Write("a.toml", "api = 1")
				s.Faults = 0
				life(t, d, s, func(p *Engine, l *policytest.Logs) {
					if got := ask(t, p, policytest.Question("web")); got.Reason != api.ReasonPoliciesNotReady {
						t.Errorf("verdict %+v", got)
					}
					time.Sleep(time.Minute)
					if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow {
						t.Errorf("verdict %+v after a minute", got)
					}
					loads := s.Loads
					time.Sleep(time.Minute)
					if s.Loads != loads || l.Count("policies that were kept cannot be brought back") != 1 {
						t.Errorf("%d loads, %d before; logged %q", s.Loads, loads, l.Lines())
					}
				}, keep)
			})
		})
	}
}

func TestWhatIsKeptIsThatOfItsOwner(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("a", "allow")
		d.Of("shop").Policy("a", "deny")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) { ask(t, p, policytest.Question("web")) }, keep, tenanted(d, "shop"))
		policytest.Must(t, os.RemoveAll(d.Of("shop").Dir))
		d.Write("a.toml", "")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny || got.Tenant != "shop" || len(got.Opinions) != 2 {
				t.Errorf("verdict %+v", got)
			}
		}, keep, tenanted(d, "shop"))
	})
}

// full is a state.PolicySets whose disk fails: the policies must still be in force.
type full struct{}

func (full) Load(tenant string) (state.PolicySet, error) {
	return state.PolicySet{Tenant: tenant}, errors.New("disk failed")
}
func (full) Store(*state.PolicySet) error   { return errors.New("disk full") }
func (full) Content(string) (string, error) { return "", errors.New("disk full") }

func TestPoliciesComeIntoForceThoughTheyCannotBeKept(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "deny")
		life(t, d, s, func(p *Engine, l *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny {
				t.Errorf("verdict %+v", got)
			}
			if l.Count("cannot be read") != 1 || l.Count("content of the policies is not saved;") != 1 || l.Count("state of policies is not saved;") != 1 {
				t.Errorf("logged %q", l.Lines())
			}
		}, func(c *Config) { c.Kept = full{} })
	})
}
