package pod

import (
	"crypto/sha256"
	"encoding/hex"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Identity returns the key that two conflicting documents share: the namespace with the identity
// annotation if it is set, else with the name.
func Identity(p *v1.Pod) types.NamespacedName {
	if name := p.Annotations[AnnotationIdentity]; name != "" {
		return types.NamespacedName{Namespace: p.Namespace, Name: name}
	}
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// FullName returns "<name>_<namespace>". Static pods with the same full name exclude each other.
func FullName(p *v1.Pod) string { return p.Name + "_" + p.Namespace }

// SourceAPI is the name of the API server's source. No other source has it.
const SourceAPI = "api"

// IsStatic reports whether p is from a source of the node itself, not from an API server.
func IsStatic(p *v1.Pod) bool {
	source, ok := p.Annotations[AnnotationSource]
	return ok && source != SourceAPI
}

// IsMirror reports whether p is a mirror pod, the copy of a static pod in the API server.
func IsMirror(p *v1.Pod) bool {
	_, ok := p.Annotations[AnnotationMirror]
	return ok
}

// IsTerminal reports whether the phase is Succeeded or Failed, which a pod never leaves.
func IsTerminal(phase v1.PodPhase) bool {
	return phase == v1.PodSucceeded || phase == v1.PodFailed
}

// Instance returns the identity of what policy judges once: the UID, and spec, labels and
// annotations as the source specifies them, without the annotations that only this node writes. For
// a pod from the node's own sources the document as written is used, so defaults that a newer agent
// adds do not change the instance. It has 32 hexadecimal digits.
func Instance(p *v1.Pod) (string, error) {
	return (*Texts)(nil).Instance(p)
}

// SameInstance reports whether a and b have the same Instance, so that a verdict about a also
// applies to b.
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

// FinalHash returns the identity of the pod that was finally run, after changes by policies. It has
// 32 hexadecimal digits.
func FinalHash(p *v1.Pod) (string, error) { return (*Texts)(nil).objectHash(p, "final") }

// Digest returns the SHA-256 of data in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Annotations that a kubelet sets on pods and sandboxes (kubernetes.io/config.*,
// pkg/kubelet/types).
const (
	AnnotationSource = "kubernetes.io/config.source"
	AnnotationSeen   = "kubernetes.io/config.seen"
	AnnotationHash   = "kubernetes.io/config.hash"
	AnnotationMirror = "kubernetes.io/config.mirror"
)

// Annotations of Wardlet. Those on sandboxes and containers are marks: objects without this
// installation's mark are foreign and never changed.
const (
	// AnnotationIdentity names the workload that a pod represents, so that it conflicts with other
	// documents of the same identity. It is a DNS label and applies only within a namespace.
	AnnotationIdentity = "wardlet.dev/identity"
	// AnnotationOnDisconnect says what happens to a pod of the API server while the node is
	// disconnected: "keep", the default, or "stop-after=" and a duration.
	AnnotationOnDisconnect = "wardlet.dev/on-disconnect"
	// AnnotationInstallation is the installation ID on sandboxes and
	// containers.
	AnnotationInstallation = "wardlet.dev/installation"
	// AnnotationDocument is the ID of the document from which a sandbox was made.
	AnnotationDocument = "wardlet.dev/document"
	// AnnotationInstance is the instance for which a sandbox was made, and AnnotationFinal is the
	// hash of the object from which it was made (see Instance and FinalHash). With them a running
	// pod is known as admitted even if the agent's state is lost.
	AnnotationInstance = "wardlet.dev/instance"
	AnnotationFinal    = "wardlet.dev/final-object"
	// AnnotationMadeFrom is the hash of what a sandbox and its containers are made from (see
	// MadeFrom). With it the agent finds an edit under a fixed UID that an earlier agent did not
	// apply. A sandbox of an earlier version does not have it, and counts as unchanged.
	AnnotationMadeFrom = "wardlet.dev/made-from"
	// AnnotationMutated is "true" on the sandbox of a pod that policies have changed: it was not
	// made from what the pod's source has.
	AnnotationMutated = "wardlet.dev/mutated"
)

// Labels that the runtime sets on sandboxes and containers, as a kubelet does.
const (
	LabelPodName       = "io.kubernetes.pod.name"
	LabelPodNamespace  = "io.kubernetes.pod.namespace"
	LabelPodUID        = "io.kubernetes.pod.uid"
	LabelContainerName = "io.kubernetes.container.name"
)

const (
	// MaxLabels is the maximum size of all labels of a pod together, in bytes. All of them are set
	// on its sandbox, and a runtime lists all sandboxes of the node in one message of limited
	// length.
	MaxLabels = 64 << 10
	// EntryCost is added to the size of the key and value of each label or annotation, in bytes: an
	// entry takes about that much more in such a message.
	EntryCost = 8
)
