package pod

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
