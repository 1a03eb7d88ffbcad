package object

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"time"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Reference returns the data that policies may see of a ConfigMap or Secret that a pod names, and
// watches it until Unreferenced. It does not block. An error means that the data is not known. wait
// is the time after which to call again if an answer is expected soon, else 0.
func (p *Objects) Reference(by *v1.Pod, r pod.Reference) (known api.Reference, wait time.Duration, err error) {
	kind := configMaps
	if r.Secret {
		kind = secrets
	}
	k := of(by, kind, by.Namespace, r.Name)
	known = api.Reference{Kind: kind.name, Name: r.Name, Optional: r.Optional}
	if r.Name == "" {
		return known, 0, errors.New("a reference without a name")
	}
	w, _, err := p.use(k, user{by.UID, true})
	if err != nil {
		return known, 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	age := p.cfg.Now().Sub(w.begun)
	switch {
	case w.heard || w.recalled:
	case age < p.patience:
		return known, max(age, firstWait), p.unknown(k, w)
	case !p.recall(k, w):
		return known, 0, p.unknown(k, w)
	}
	object := w.objects[r.Name]
	if object == nil {
		return known, 0, nil
	}
	known.Keys, known.Digest = described(k, w.objects).Keys, p.digestOf(k, w, object)
	if known.Digest == "" {
		return known, 0, fmt.Errorf("%s has no digest: the agent has started without its key of Secrets; wardlet check says why", k)
	}
	return known, 0, nil
}

// firstWait is the shortest wait that Reference returns for an object that is not known yet.
const firstWait = 20 * time.Millisecond

// Unreferenced notes that policies are no longer asked about a pod. Objects that were watched only
// because of this pod are no longer watched.
func (p *Objects) Unreferenced(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(user{uid, true})
}

// unknown returns an error with the reason why the objects of a key are not known. The caller holds
// the lock.
func (p *Objects) unknown(k key, w *watched) error {
	switch {
	case k.local:
		return fmt.Errorf("%s is not known yet: %s was not read yet; wardlet get objects says why", k, p.cfg.Dir)
	case w.failed != nil:
		return fmt.Errorf("%s is not known yet: %w", k, w.failed)
	}
	return fmt.Errorf("%s is not known yet: the API server has not answered", k)
}

// digest is the digest of an object.
type digest struct {
	of   metav1.Object
	text string
}

// digestOf returns the digest of one object of w. The caller holds the lock.
func (p *Objects) digestOf(k key, w *watched, object metav1.Object) string {
	if w.digest.of != object {
		w.digest = digest{object, p.makeDigest(k, object)}
	}
	return w.digest.text
}

// makeDigest returns a digest of the data of an object. For a ConfigMap it is the SHA-256 of data
// and binaryData as JSON with sorted keys, which anyone can compute; data that is not valid UTF-8
// is treated as binaryData. The digest of a Secret depends on a key of this node and on the
// Secret's name, so that a value that is easily guessed cannot be confirmed with it. Without the
// key it is empty.
func (p *Objects) makeDigest(k key, object metav1.Object) string {
	var name string
	var sum hash.Hash
	var data any
	switch o := object.(type) {
	case *v1.ConfigMap:
		name, sum = "sha256", sha256.New()
		texts, binary := map[string]string{}, maps.Clone(o.BinaryData)
		for key, text := range o.Data {
			if utf8.ValidString(text) {
				texts[key] = text
				continue
			}
			if binary == nil {
				binary = map[string][]byte{}
			}
			binary[key] = []byte(text)
		}
		data = struct {
			BinaryData map[string][]byte `json:"binaryData,omitempty"`
			Data       map[string]string `json:"data,omitempty"`
		}{binary, texts}
	case *v1.Secret:
		if p.cfg.Key == nil {
			return ""
		}
		name, sum = "hmac-sha256", hmac.New(sha256.New, p.cfg.Key.digests)
		sum.Write([]byte(k.String() + "\x00"))
		data = struct {
			Data map[string][]byte `json:"data,omitempty"`
		}{o.Data}
	default:
		return ""
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(data) != nil {
		return "" // maps of strings and bytes can always be written
	}
	sum.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return name + ":" + hex.EncodeToString(sum.Sum(nil))
}
