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
	_, soon, err := r.Reference(newPod("web"), pod.Reference{Name: "x"})
	if err == nil || !soon {
		t.Errorf("just asked: soon is %v, %v", soon, err)
	}
	eventually(t, "the server is asked", true, r.server.hasRefused)
	r.advance(time.Second)
	eventually(t, "the reason is known", true, func() bool {
		_, soon, err = r.Reference(newPod("web"), pod.Reference{Name: "x"})
		return strings.Contains(err.Error(), "down for a while")
	})
	if soon || !strings.HasPrefix(err.Error(), "ConfigMap shop/x is not known yet: ") {
		t.Errorf("after a second: soon is %v, %v", soon, err)
	}
}

func TestReference_digests(t *testing.T) {
	t.Parallel()
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(s[:])
	}
	p, other, without := &Plane{cfg: Config{Key: testKey(t, "a")}}, &Plane{cfg: Config{Key: testKey(t, "b")}}, &Plane{}
	at := func(k *kind, name string) key { return of(newPod("web"), k, "default", name) }
	for name, tt := range map[string]struct {
		of   *v1.ConfigMap
		want string
	}{
		"nothing":  {&v1.ConfigMap{}, sum(`{}`)},
		"data":     {&v1.ConfigMap{Data: map[string]string{"b": "<&>", "a": "1"}}, sum(`{"data":{"a":"1","b":"<&>"}}`)},
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
	all := []string{
		p.makeDigest(at(secrets, "x"), secret), p.makeDigest(at(secrets, "y"), secret),
		other.makeDigest(at(secrets, "x"), secret), without.makeDigest(at(secrets, "x"), secret), (&Plane{}).makeDigest(at(secrets, "x"), secret),
	}
	if again := []string{p.makeDigest(at(secrets, "x"), secret), without.makeDigest(at(secrets, "x"), secret)}; again[0] != all[0] || again[1] != all[3] {
		t.Error("the digest of a Secret is another each time")
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 5 {
		t.Errorf("digests of a Secret under other names and keys are equal: %q", all)
	}
}
