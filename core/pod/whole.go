package pod

import (
	"encoding/json"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Whole is a pod as policies see it: without its status and without managed fields.
type Whole struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     *v1.PodSpec       `json:"spec"`
}

// WholeOf returns a pod as policies see it. It shares its memory with the pod.
func WholeOf(p *v1.Pod) *Whole {
	whole := &Whole{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, Metadata: p.ObjectMeta, Spec: &p.Spec}
	whole.Metadata.ManagedFields = nil
	return whole
}

// Texts encodes the specs of pods as JSON, each once: one decision needs the JSON for the pod's
// instance, for plugins that ask for the whole pod, and for the record. The specs must not change
// while Texts is used. A nil Texts works and caches nothing. It is safe for concurrent use.
type Texts struct {
	mu    sync.Mutex
	specs map[*v1.PodSpec][]byte
}

// Whole returns the JSON of a pod as policies see it.
func (t *Texts) Whole(p *v1.Pod) ([]byte, error) {
	spec, err := t.spec(&p.Spec)
	if err != nil {
		return nil, err
	}
	whole := WholeOf(p)
	text, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`

		Metadata *metav1.ObjectMeta `json:"metadata"`
	}{whole.TypeMeta, &whole.Metadata})
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-len("}")], `,"spec":`...)
	return append(append(text, spec...), '}'), nil
}

// Instance returns the same as the function Instance.
func (t *Texts) Instance(p *v1.Pod) (string, error) {
	if hash, ok := p.Annotations[AnnotationHash]; ok && IsStatic(p) {
		return Digest([]byte("document\x00" + string(p.UID) + "\x00" + hash))[:32], nil
	}
	return t.objectHash(p, "instance")
}

// objectHash returns the hash of the JSON of a struct with these four fields. Pods and records
// contain such hashes, so the encoding must not change.
func (t *Texts) objectHash(p *v1.Pod, kind string) (string, error) {
	annotations := sharedAnnotations(p)
	delete(annotations, AnnotationHash)
	spec, err := t.spec(&p.Spec)
	if err != nil {
		return "", fmt.Errorf("identify pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	// A string and a map of strings can always be encoded as JSON.
	uid, _ := json.Marshal(string(p.UID))
	labels, _ := json.Marshal(p.Labels)
	shared, _ := json.Marshal(annotations)
	text := append([]byte(kind), "\x00{\"UID\":"...)
	for _, part := range [][]byte{uid, []byte(`,"Spec":`), spec, []byte(`,"Labels":`), labels, []byte(`,"Annotations":`), shared, {'}'}} {
		text = append(text, part...)
	}
	return Digest(text)[:32], nil
}

func (t *Texts) spec(s *v1.PodSpec) ([]byte, error) {
	if t == nil {
		return json.Marshal(s)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.specs[s]; ok {
		return text, nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if t.specs == nil {
		t.specs = map[*v1.PodSpec][]byte{}
	}
	t.specs[s] = text
	return text, nil
}
