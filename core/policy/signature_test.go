package policy

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/signed"
	"github.com/wardlet/wardlet/core/state"
)

func newKey(t *testing.T) *signed.SecretKey {
	t.Helper()
	key, err := signed.GenerateKey(rand.Reader)
	policytest.Must(t, err)
	return key
}

// signIn signs the files of the directory.
func signIn(d policytest.Tree, revision uint64, key *signed.SecretKey) {
	d.T.Helper()
	sums, err := bundle.Files(d.Dir)
	if err != nil {
		d.T.Fatal(err)
	}
	pair, err := signed.Sign(revision, sums, key, policytest.Instant)
	policytest.Must(d.T, err)
	policytest.Must(d.T, pair.Write(d.Dir))
}

func trusting(required bool, keys ...*signed.SecretKey) bundle.Trust {
	trust := bundle.Trust{Required: required}
	for _, k := range keys {
		trust.Keys = append(trust.Keys, k.Public())
	}
	return trust
}

func TestASetMustBeTheOneThatWasSigned(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	for name, test := range map[string]struct {
		trust  bundle.Trust
		change func(d policytest.Tree)
		want   string
	}{
		"signed":                            {trusting(true, key), func(policytest.Tree) {}, ""},
		"by one of several keys":            {trusting(true, other, key), func(policytest.Tree) {}, ""},
		"signed, where nobody requires it":  {trusting(false, key), func(policytest.Tree) {}, ""},
		"signed, where no key is trusted":   {bundle.Trust{}, func(policytest.Tree) {}, ""},
		"not signed, where nobody requires": {trusting(false, key), func(d policytest.Tree) { d.Remove(signed.ManifestName) }, ""},
		"required, where no key is trusted": {
			bundle.Trust{Required: true}, func(policytest.Tree) {}, "DIR/set.toml: no key is trusted, and agent.toml requires a signature; name trusted_keys there",
		},
		"not signed": {
			trusting(true, key), func(d policytest.Tree) { d.Remove(signed.ManifestName) },
			"DIR/set.toml: missing, and agent.toml requires a signature; sign the set with wardlet policy sign",
		},
		"by another key":      {trusting(false, other), func(policytest.Tree) {}, "DIR/set.toml.minisig: "},
		"without a signature": {trusting(false, key), func(d policytest.Tree) { d.Remove(signed.SignatureName) }, "DIR/set.toml.minisig: "},
		"with another policy": {
			trusting(false, key), func(d policytest.Tree) { d.Policy("p", "deny") }, "DIR/set.toml: the set is not what its manifest says:\na.yaml: ",
		},
		"with one more": {
			trusting(false, key), func(d policytest.Tree) { d.Policy("q", "deny") }, "DIR/set.toml: the set is not what its manifest says:\nq.toml: set.toml does not list it",
		},
		"with one less": {
			trusting(false, key), func(d policytest.Tree) {
				d.Policy("q", "deny")
				signIn(d, 4, key)
				d.Remove("q.toml")
			}, "DIR/set.toml: the set is not what its manifest says:\nq.toml: set.toml lists it, but it is not in the set",
		},
		"with another policy, where no key is trusted": {
			bundle.Trust{}, func(d policytest.Tree) { d.Policy("p", "deny") }, "DIR/set.toml: the set is not what its manifest says:",
		},
		"with a manifest that is a link": {
			trusting(false, key), func(d policytest.Tree) {
				policytest.Must(d.T, os.Rename(filepath.Join(d.Dir, signed.ManifestName), filepath.Join(d.Dir, "elsewhere")))
				policytest.Must(d.T, os.Symlink("elsewhere", filepath.Join(d.Dir, signed.ManifestName)))
			}, "DIR/set.toml: cannot be read: a symbolic link",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("p", "allow", "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
			d.Write("a.yaml", policytest.ManifestText)
			signIn(d, 3, key)
			test.change(d)
			got := bundle.Read(bundle.Options{Dir: d.Dir, Trust: test.trust})
			if text := policytest.InDir(got.Err(), d.Dir); text != test.want && (test.want == "" || !strings.HasPrefix(text, test.want)) {
				t.Errorf("error %s\nwant %s", text, test.want)
			}
			if verified := len(test.trust.Keys) > 0 && !strings.HasPrefix(name, "not signed"); test.want == "" && verified != (got.Signature.Revision == 3 && got.Signature.Key == key.Public().ID()) {
				t.Errorf("signature %+v", got.Signature)
			}
		})
	}
}

func TestARevisionNeverGoesBack(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		trust := func(c *Config) { c.Trust = trusting(true, key) }
		d.Policy("a", "allow")
		signIn(d, 2, key)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			ask(t, p, policytest.Question("web"))
			if set := p.Sets()[0]; set.Revision != 2 || set.Key != key.Public().ID() {
				t.Errorf("set %+v", set)
			}
			d.Policy("a", "deny")
			signIn(d, 1, key)
			time.Sleep(time.Minute)
			if set := p.Sets()[0]; set.Revision != 2 || !strings.Contains(set.Refused, "revision 1 is lower than 2") {
				t.Errorf("set %+v", set)
			}
		}, keep, trust)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow {
				t.Errorf("verdict %+v after a restart", got)
			}
			signIn(d, 2, key)
			time.Sleep(time.Minute)
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny {
				t.Errorf("verdict %+v with the same revision", got)
			}
		}, keep, trust)
	})
}

func TestOnlyASignedSetMayBeEmpty(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, test := range map[string]struct {
		trust bundle.Trust
		sign  bool
		want  api.Answer
	}{
		"signed":                          {trusting(false, key), true, api.Allow},
		"not signed":                      {trusting(false, key), false, api.Hold},
		"signed, where no key is trusted": {bundle.Trust{}, true, api.Hold},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				if test.sign {
					signIn(d, 1, key)
				}
				p, _ := listed(t, d, s, func(c *Config) { c.Trust = test.trust })
				run(t, p)
				if got := ask(t, p, policytest.Question("web")); got.Answer != test.want {
					t.Errorf("verdict %+v", got)
				}
			})
		})
	}
}

func TestASetThatEmptiesIsOutOfForceOnlyIfThatIsSigned(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		trust := func(c *Config) { c.Trust = trusting(true, key) }
		wants := func(step string, p *Engine, answer api.Answer, revision uint64) {
			t.Helper()
			if got := ask(t, p, policytest.Question("web")); got.Answer != answer {
				t.Errorf("%s: verdict %+v, want %s", step, got, answer)
			}
			if set := p.Sets()[0]; set.Revision != revision || answer == api.Allow != (len(set.Policies) == 0) {
				t.Errorf("%s: set %+v, want revision %d", step, set, revision)
			}
		}
		d.Policy("a", "deny")
		signIn(d, 1, key)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			wants("with a policy", p, api.Deny, 1)
			d.Remove("a.toml")
			d.Remove("a.wasm")
			takenIn()
			wants("emptied", p, api.Deny, 1)
			d.Remove("set.toml")
			d.Remove("set.toml.minisig")
			takenIn()
			wants("emptied altogether", p, api.Deny, 1)
			signIn(d, 1, newKey(t))
			takenIn()
			wants("signed by a stranger", p, api.Deny, 1)
			signIn(d, 2, key)
			takenIn()
			wants("signed", p, api.Allow, 2)
			if set := p.Sets()[0]; !set.Ready || set.Refused != "" {
				t.Errorf("set %+v", set)
			}
		}, keep, trust)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) { wants("after a restart", p, api.Allow, 2) }, keep, trust)
		policytest.Must(t, os.RemoveAll(d.Dir))
		life(t, d, s, func(p *Engine, _ *policytest.Logs) { wants("as the last good set", p, api.Allow, 2) }, keep, trust)
	})
}
