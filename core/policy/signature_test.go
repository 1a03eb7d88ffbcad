package policy

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/signed"
	"github.com/wardlet/wardlet/core/state"
)

func newKey(t *testing.T) *signed.SecretKey {
	t.Helper()
	key, err := signed.GenerateKey(rand.Reader)
	must(t, err)
	return key
}

// sign signs what the directory holds.
func (d tree) sign(revision uint64, key *signed.SecretKey) {
	d.t.Helper()
	sums, err := Files(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	pair, err := signed.Sign(revision, sums, key, instant)
	must(d.t, err)
	must(d.t, pair.Write(d.dir))
}

func trusting(required bool, keys ...*signed.SecretKey) Trust {
	trust := Trust{Required: required}
	for _, k := range keys {
		trust.Keys = append(trust.Keys, k.Public())
	}
	return trust
}

func TestASetMustBeTheOneThatWasSigned(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	for name, test := range map[string]struct {
		trust  Trust
		change func(d tree)
		want   string
	}{
		"signed":                            {trusting(true, key), func(tree) {}, ""},
		"by one of several keys":            {trusting(true, other, key), func(tree) {}, ""},
		"signed, where nobody requires it":  {trusting(false, key), func(tree) {}, ""},
		"signed, where no key is trusted":   {Trust{}, func(tree) {}, ""},
		"not signed, where nobody requires": {trusting(false, key), func(d tree) { d.remove(signed.ManifestName) }, ""},
		"required, where no key is trusted": {
			Trust{Required: true}, func(tree) {}, "DIR/set.toml: no key is trusted, and agent.toml requires a signature; name trusted_keys there",
		},
		"not signed": {
			trusting(true, key), func(d tree) { d.remove(signed.ManifestName) },
			"DIR/set.toml: missing, and agent.toml requires a signature; sign the set with wardlet policy sign",
		},
		"by another key":      {trusting(false, other), func(tree) {}, "DIR/set.toml.minisig: "},
		"without a signature": {trusting(false, key), func(d tree) { d.remove(signed.SignatureName) }, "DIR/set.toml.minisig: "},
		"with another policy": {
			trusting(false, key), func(d tree) { d.policy("p", "deny") }, "DIR/set.toml: the set is not what its manifest says:\na.yaml: ",
		},
		"with one more": {
			trusting(false, key), func(d tree) { d.policy("q", "deny") }, "DIR/set.toml: the set is not what its manifest says:\nq.toml: set.toml does not list it",
		},
		"with one less": {
			trusting(false, key), func(d tree) {
				d.policy("q", "deny")
				d.sign(4, key)
				d.remove("q.toml")
			}, "DIR/set.toml: the set is not what its manifest says:\nq.toml: set.toml lists it, but it is not in the set",
		},
		"with another policy, where no key is trusted": {
			Trust{}, func(d tree) { d.policy("p", "deny") }, "DIR/set.toml: the set is not what its manifest says:",
		},
		"with a manifest that is a link": {
			trusting(false, key), func(d tree) {
				must(d.t, os.Rename(filepath.Join(d.dir, signed.ManifestName), filepath.Join(d.dir, "elsewhere")))
				must(d.t, os.Symlink("elsewhere", filepath.Join(d.dir, signed.ManifestName)))
			}, "DIR/set.toml: cannot be read: a symbolic link",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTree(t)
			d.policy("p", "allow", "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
			d.write("a.yaml", manifestText)
			d.sign(3, key)
			test.change(d)
			c := testConfig(d, newScripts())
			c.Trust = test.trust
			got := read(&c)
			if text := inDir(got.err(), d.dir); text != test.want && (test.want == "" || !strings.HasPrefix(text, test.want)) {
				t.Errorf("error %s\nwant %s", text, test.want)
			}
			if verified := len(test.trust.Keys) > 0 && !strings.HasPrefix(name, "not signed"); test.want == "" && verified != (got.signature.revision == 3 && got.signature.key == key.Public().ID()) {
				t.Errorf("signature %+v", got.signature)
			}
		})
	}
}

func TestARevisionNeverGoesBack(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	keptBubble(t, func(d tree, s *scripts, keep func(*Config), _ state.PolicySets) {
		t := d.t
		trust := func(c *Config) { c.Trust = trusting(true, key) }
		d.policy("a", "allow")
		d.sign(2, key)
		life(t, d, s, func(p *Plane, _ *logs) {
			ask(t, p, question("web"))
			if set := p.Sets()[0]; set.Revision != 2 || set.Key != key.Public().ID() {
				t.Errorf("set %+v", set)
			}
			d.policy("a", "deny")
			d.sign(1, key)
			time.Sleep(time.Minute)
			if set := p.Sets()[0]; set.Revision != 2 || !strings.Contains(set.Refused, "revision 1 is lower than 2") {
				t.Errorf("set %+v", set)
			}
		}, keep, trust)
		life(t, d, s, func(p *Plane, _ *logs) {
			if got := ask(t, p, question("web")); got.Answer != api.Allow {
				t.Errorf("verdict %+v after a restart", got)
			}
			d.sign(2, key)
			time.Sleep(time.Minute)
			if got := ask(t, p, question("web")); got.Answer != api.Deny {
				t.Errorf("verdict %+v with the same revision", got)
			}
		}, keep, trust)
	})
}

func TestOnlyASignedSetMayBeEmpty(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	for name, test := range map[string]struct {
		trust Trust
		sign  bool
		want  api.Answer
	}{
		"signed":                          {trusting(false, key), true, api.Allow},
		"not signed":                      {trusting(false, key), false, api.Hold},
		"signed, where no key is trusted": {Trust{}, true, api.Hold},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				if test.sign {
					d.sign(1, key)
				}
				p, _ := listed(t, d, s, func(c *Config) { c.Trust = test.trust })
				run(t, p)
				if got := ask(t, p, question("web")); got.Answer != test.want {
					t.Errorf("verdict %+v", got)
				}
			})
		})
	}
}

func TestASetThatEmptiesIsOutOfForceOnlyIfThatIsSigned(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	keptBubble(t, func(d tree, s *scripts, keep func(*Config), _ state.PolicySets) {
		t := d.t
		trust := func(c *Config) { c.Trust = trusting(true, key) }
		wants := func(step string, p *Plane, answer api.Answer, revision uint64) {
			t.Helper()
			if got := ask(t, p, question("web")); got.Answer != answer {
				t.Errorf("%s: verdict %+v, want %s", step, got, answer)
			}
			if set := p.Sets()[0]; set.Revision != revision || answer == api.Allow != (len(set.Policies) == 0) {
				t.Errorf("%s: set %+v, want revision %d", step, set, revision)
			}
		}
		d.policy("a", "deny")
		d.sign(1, key)
		life(t, d, s, func(p *Plane, _ *logs) {
			wants("with a policy", p, api.Deny, 1)
			d.remove("a.toml")
			d.remove("a.wasm")
			takenIn()
			wants("emptied", p, api.Deny, 1)
			d.remove("set.toml")
			d.remove("set.toml.minisig")
			takenIn()
			wants("emptied altogether", p, api.Deny, 1)
			d.sign(1, newKey(t))
			takenIn()
			wants("signed by a stranger", p, api.Deny, 1)
			d.sign(2, key)
			takenIn()
			wants("signed", p, api.Allow, 2)
			if set := p.Sets()[0]; !set.Ready || set.Refused != "" {
				t.Errorf("set %+v", set)
			}
		}, keep, trust)
		life(t, d, s, func(p *Plane, _ *logs) { wants("after a restart", p, api.Allow, 2) }, keep, trust)
		must(t, os.RemoveAll(d.dir))
		life(t, d, s, func(p *Plane, _ *logs) { wants("as the last good set", p, api.Allow, 2) }, keep, trust)
	})
}

func TestFilesAreThoseThatASignatureIsAbout(t *testing.T) {
	t.Parallel()
	d := newTree(t)
	d.policy("p", "allow", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\"")
	d.write("tests/a.yaml", manifestText)
	d.write("README", "x")
	d.write("set.toml", "broken")
	sums, err := Files(d.dir)
	if err != nil || len(sums) != 3 || sums["tests/a.yaml"] != sumOf(manifestText) {
		t.Errorf("%v, %v", sums, err)
	}
	if sums, err := Files(t.TempDir()); err != nil || len(sums) > 0 {
		t.Errorf("of an empty directory: %v, %v", sums, err)
	}
	d.write("p.wasm", "other")
	if _, err := Files(d.dir); err == nil || !strings.Contains(err.Error(), "p.wasm has the digest") {
		t.Errorf("error %v", err)
	}
}
