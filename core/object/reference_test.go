package object

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

func TestReference_saysWhatIsKnown(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]bool{"ConfigMap": false, "Secret": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			kind, by := kinds[name], newPod("web")
			known := func() api.Reference {
				var got api.Reference
				eventually(t, "known", true, func() (known bool) {
					var err error
					got, _, err = r.Reference(by, pod.Reference{Secret: secret, Name: "x", Optional: true})
					return err == nil
				})
				return got
			}
			if got := known(); got.Kind != name || got.Name != "x" || !got.Optional || got.Keys != nil || got.Digest != "" {
				t.Errorf("before there is one: %+v", got)
			}
			var digests []string
			for _, text := range []string{"one", "two", "one"} {
				r.server.set(kind.path, "x", kind.object(text))
				eventually(t, "object", text, func() string { text, _ := kind.get(t, r, "other"); return text })
				got := known()
				if len(got.Keys) == 0 || strings.Contains(got.Digest, text) {
					t.Errorf("%q: %+v", text, got)
				}
				digests = append(digests, got.Digest)
			}
			if digests[0] == digests[1] || digests[0] != digests[2] {
				t.Errorf("digests of one, two and one: %q", digests)
			}
			if n := r.changesOf("uid-web"); n != 0 {
				t.Errorf("a pod that is only judged was woken %d times", n)
			}
			watches := func() int { return r.server.watched(kind.path, "x") }
			r.Release("uid-other")
			r.Release("uid-web")
			if watches() != 1 {
				t.Error("what policies are shown went with the worker")
			}
			r.Unreferenced("uid-web")
			eventually(t, "watches of what no pod names", 0, watches)
		})
	}
}

func TestReference_ofAServerThatIsAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.server.turn(true)
	_, wait, err := r.Reference(newPod("web"), pod.Reference{Name: "x"})
	if err == nil || wait <= 0 || wait > r.patience {
		t.Errorf("just asked: wait is %v, %v", wait, err)
	}
	eventually(t, "the server is asked", true, r.server.hasRefused)
	r.advance(time.Second)
	eventually(t, "the reason is known", true, func() bool {
		_, wait, err = r.Reference(newPod("web"), pod.Reference{Name: "x"})
		return strings.Contains(err.Error(), "down for a while")
	})
	if wait != 0 || !strings.HasPrefix(err.Error(), "ConfigMap shop/x is not known yet: ") {
		t.Errorf("after a second: wait is %v, %v", wait, err)
	}
}

func TestReference_digests(t *testing.T) {
	t.Parallel()
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(s[:])
	}
	p, other, without := &Objects{cfg: Config{Key: testKey(t, "a")}}, &Objects{cfg: Config{Key: testKey(t, "b")}}, &Objects{}
	at := func(k *kind, name string) key { return of(newPod("web"), k, "default", name) }
	for name, tt := range map[string]struct {
		of   *v1.ConfigMap
		want string
	}{
		"nothing":  {&v1.ConfigMap{}, sum(`{}`)},
		"data":     {&v1.ConfigMap{Data: map[string]string{"b": "<&>", "a": "1"}}, sum(`{"data":{"a":"1","b":"<&>"}}`)},
		"no text":  {&v1.ConfigMap{Data: map[string]string{"a": "\xff", "b": "1"}}, sum(`{"binaryData":{"a":"/w=="},"data":{"b":"1"}}`)},
		"binary":   {&v1.ConfigMap{BinaryData: map[string][]byte{"x": {0, 1}}}, sum(`{"binaryData":{"x":"AAE="}}`)},
		"of any":   {&v1.ConfigMap{Data: map[string]string{"a": "1"}}, other.makeDigest(at(configMaps, "other"), &v1.ConfigMap{Data: map[string]string{"a": "1"}})},
		"versions": {&v1.ConfigMap{ObjectMeta: newPod("x").ObjectMeta, Immutable: new(true)}, sum(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := p.makeDigest(at(configMaps, "x"), tt.of); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	secret := &v1.Secret{Data: map[string][]byte{"password": []byte("guess")}}
	all := []string{p.makeDigest(at(secrets, "x"), secret), p.makeDigest(at(secrets, "y"), secret), other.makeDigest(at(secrets, "x"), secret)}
	if p.makeDigest(at(secrets, "x"), secret) != all[0] {
		t.Error("the digest of a Secret is another each time")
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 3 {
		t.Errorf("digests of a Secret under other names and keys are equal: %q", all)
	}
	if a, b := p.makeDigest(at(secrets, "x"), &v1.Secret{}), p.makeDigest(at(secrets, "x"), &v1.Secret{Data: map[string][]byte{}}); a != b {
		t.Errorf("digests of two Secrets without data: %s, %s", a, b)
	}
	if got := without.makeDigest(at(secrets, "x"), secret); got != "" {
		t.Errorf("without a key: %s", got)
	}
}

// TestReference_ofASecretWithoutTheKey checks that a Secret has no digest without the key: a
// digest that changes with each start would match no pin.
func TestReference_ofASecretWithoutTheKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Key = nil
	kind := kinds["Secret"]
	r.server.set(kind.path, "x", kind.object("one"))
	eventually(t, "what is said of it", "Secret shop/x has no digest: the agent has started without its key of Secrets; wardlet check says why", func() string {
		_, wait, err := r.Reference(newPod("web"), pod.Reference{Secret: true, Name: "x"})
		if err == nil || wait > 0 {
			return ""
		}
		return err.Error()
	})
	eventually(t, "one that is not there is known", true, func() bool {
		_, _, err := r.Reference(newPod("web"), pod.Reference{Secret: true, Name: "none"})
		return err == nil
	})
}

func TestReference_withoutAName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, wait, err := r.Reference(newPod("web"), pod.Reference{}); err == nil || wait > 0 {
		t.Errorf("wait %v, %v", wait, err)
	}
	if n := r.server.watched(configs, ""); n != 0 {
		t.Errorf("%d watches of all objects", n)
	}
}

// TestReference_isKeptForItsPod checks that an object is kept from the time a policy first asks
// for it, for the worker that needs it later.
func TestReference_isKeptForItsPod(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	r := newRigOn(t, nil, d)
	r.read(t, true, map[string]string{"/objects/a.yaml": config("one")})
	if _, _, err := r.Reference(staticPod("web"), pod.Reference{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	if text := r.text(t, "web"); text != "one" {
		t.Fatal(text)
	}
	if got := d.keys(); got != "local ConfigMap shop/x" {
		t.Errorf("kept: %q", got)
	}
}
