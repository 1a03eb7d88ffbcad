package condition

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// Request is the data that the conditions of one decision read: the pods, and the
// fields of request in docs/abi.md, except references.
type Request struct {
	// Object is the pod that is judged.
	Object *corev1.Pod `json:"-"`
	// OldObject is the pod that was admitted before, nil if there is none.
	OldObject *corev1.Pod `json:"-"`

	// Hook is admit, merge, filter or connect.
	Hook string `json:"hook"`
	// Operation is ADD, UPDATE, REVIEW, RECONCILE or CONNECT, empty for merge.
	Operation string `json:"operation"`
	// Source is the name of the pod's source. Kind is its kind: file, http or api.
	Source string `json:"source"`
	Kind   string `json:"kind"`
	// Document is the document's name in its source.
	Document string `json:"document"`
	// Replaces is the UID of the pod that this one would replace, if any.
	Replaces string `json:"replaces"`
	// Tenant is the tenant that the pod belongs to, empty for the operator's.
	Tenant string `json:"tenant"`
	// Node is the node's name.
	Node string `json:"node"`
	// Time is the time of the decision, of which conditions see milliseconds.
	Time time.Time `json:"time"`
	// ClockSynchronized reports whether the node's clock is known to be right.
	ClockSynchronized bool `json:"clockSynchronized"`
	// Changed lists what an update changed, in the words of docs/abi.md.
	Changed []string `json:"changed"`
	// Connection is the connection of the hook connect, nil for other hooks.
	Connection *api.Connection `json:"connection"`
}

// These are the variables of expressions. Their types are in variables.
const (
	variableObject    = "object"
	variableOldObject = "oldObject"
	variableRequest   = "request"
)

var variables = map[string]reflect.Type{
	variableObject:    reflect.TypeFor[corev1.Pod](),
	variableOldObject: reflect.TypeFor[corev1.Pod](),
	variableRequest:   reflect.TypeFor[Request](),
}
