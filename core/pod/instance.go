package pod

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// Instance identifies what policy judges once: a UID, and spec, labels and
// annotations as the source gave them, without the annotations that only this
// node writes. Of a pod from the node's own sources the document as written
// counts, so that defaults a newer agent adds make no other instance of it. It
// is 32 hexadecimal digits.
func Instance(p *v1.Pod) (string, error) {
	if hash, ok := p.Annotations[AnnotationHash]; ok && IsStatic(p) {
		return digest([]byte("document\x00" + string(p.UID) + "\x00" + hash))[:32], nil
	}
	return objectHash(p, "instance")
}

// SameInstance reports whether policy has nothing new to say of b when it has
// judged a.
func SameInstance(a, b *v1.Pod) bool {
	if a == b {
		return true
	}
	before, err := Instance(a)
	if err != nil {
		return false
	}
	after, err := Instance(b)
	return err == nil && before == after
}

// FinalHash identifies what a pod was made from in the end: after policies
// have changed it. It is 32 hexadecimal digits.
func FinalHash(p *v1.Pod) (string, error) { return objectHash(p, "final") }

func objectHash(p *v1.Pod, kind string) (string, error) {
	annotations := sharedAnnotations(p)
	delete(annotations, AnnotationHash)
	text, err := json.Marshal(struct {
		UID                 string
		Spec                *v1.PodSpec
		Labels, Annotations map[string]string
	}{string(p.UID), &p.Spec, p.Labels, annotations})
	if err != nil {
		return "", fmt.Errorf("identify pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return digest(append([]byte(kind+"\x00"), text...))[:32], nil
}
