package pod

import (
	"crypto/sha256"
	"encoding/hex"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Identity is what two documents must share to be in conflict: the namespace
// plus the identity annotation where it is set, else the name.
func Identity(p *v1.Pod) types.NamespacedName {
	if name := p.Annotations[AnnotationIdentity]; name != "" {
		return types.NamespacedName{Namespace: p.Namespace, Name: name}
	}
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// FullName is "<name>_<namespace>", the key by which static pods exclude each
// other.
func FullName(p *v1.Pod) string { return p.Name + "_" + p.Namespace }

// SourceAPI is the name of the source that is the API server, and of no other.
const SourceAPI = "api"

// IsStatic reports whether p comes from the node itself, not from an API
// server.
func IsStatic(p *v1.Pod) bool {
	source, ok := p.Annotations[AnnotationSource]
	return ok && source != SourceAPI
}

// IsMirror reports whether p is the API server's picture of a static pod.
func IsMirror(p *v1.Pod) bool {
	_, ok := p.Annotations[AnnotationMirror]
	return ok
}

// IsTerminal reports whether the phase is one a pod never leaves.
func IsTerminal(phase v1.PodPhase) bool {
	return phase == v1.PodSucceeded || phase == v1.PodFailed
}

// Instance identifies what policy judges once: a UID, and spec, labels and
// annotations as the source gave them, without the annotations that only this
// node writes. Of a pod from the node's own sources the document as written
// counts, so that defaults a newer agent adds make no other instance of it. It
// is 32 hexadecimal digits.
func Instance(p *v1.Pod) (string, error) {
	return (*Texts)(nil).Instance(p)
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
func FinalHash(p *v1.Pod) (string, error) { return (*Texts)(nil).objectHash(p, "final") }

// Digest returns the SHA-256 of data in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Annotations a kubelet puts on pods and sandboxes
// (kubernetes.io/config.*, pkg/kubelet/types).
const (
	AnnotationSource = "kubernetes.io/config.source"
	AnnotationSeen   = "kubernetes.io/config.seen"
	AnnotationHash   = "kubernetes.io/config.hash"
	AnnotationMirror = "kubernetes.io/config.mirror"
)

// Annotations of Wardlet. Those on sandboxes and containers are marks: what
// does not carry this installation's mark is foreign and never touched.
const (
	// AnnotationIdentity names the workload a pod stands for, beside other
	// documents that claim it. A DNS label; it never crosses a namespace.
	AnnotationIdentity = "wardlet.dev/identity"
	// AnnotationInstallation is the installation ID on sandboxes and
	// containers.
	AnnotationInstallation = "wardlet.dev/installation"
	// AnnotationDocument is the ID of the document a sandbox was made for.
	AnnotationDocument = "wardlet.dev/document"
	// AnnotationInstance and AnnotationFinal are the instance a sandbox was
	// made for and the hash of the object it was made from (see Instance and
	// FinalHash): with them a pod that runs is known as admitted even when the
	// agent's memory is lost.
	AnnotationInstance = "wardlet.dev/instance"
	AnnotationFinal    = "wardlet.dev/final-object"
	// AnnotationMadeFrom is what a sandbox and its containers are made from (see MadeFrom),
	// by which an edit under a fixed UID is found that an earlier agent did not come to
	// apply. A sandbox of an earlier version does not have it, and is taken as it is.
	AnnotationMadeFrom = "wardlet.dev/made-from"
	// AnnotationMutated is "true" on the sandbox of a pod that policies have
	// changed: what its source has is not what it was made from.
	AnnotationMutated = "wardlet.dev/mutated"
)

// Labels the runtime puts on sandboxes and containers, as a kubelet does.
const (
	LabelPodName       = "io.kubernetes.pod.name"
	LabelPodNamespace  = "io.kubernetes.pod.namespace"
	LabelPodUID        = "io.kubernetes.pod.uid"
	LabelContainerName = "io.kubernetes.container.name"
)

const (
	// MaxLabels bounds the labels of a pod together, in bytes. All of them go onto its
	// sandbox, and a runtime lists all sandboxes of the node in one message, which has
	// a greatest length.
	MaxLabels = 64 << 10
	// EntryCost is what a label or annotation counts beside its key and value, in
	// bytes: in such a message an entry takes about that much more.
	EntryCost = 8
)
