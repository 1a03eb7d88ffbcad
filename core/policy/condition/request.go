package condition

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// Request is what the conditions of one decision look at. Beside the pods it has the fields of
// request in docs/abi.md, except references.
type Request struct {
	// Object is the pod that is judged.
	Object *corev1.Pod `json:"-"`
	// OldObject is the pod that was admitted before, nil where there is none.
	OldObject *corev1.Pod `json:"-"`

	// Hook is admit, merge, filter or connect.
	Hook string `json:"hook"`
	// Operation is ADD, UPDATE, REVIEW, RECONCILE or CONNECT, empty for merge.
	Operation string `json:"operation"`
	// Source is the name of the pod's source, and Kind file, http or api.
	Source string `json:"source"`
	Kind   string `json:"kind"`
	// Document is the document's name in its source.
	Document string `json:"document"`
	// Replaces is the UID of the pod that this one would replace, if any.
	Replaces string `json:"replaces"`
	// Tenant is whose pod it is, empty for the operator's.
	Tenant string `json:"tenant"`
	// Node is the node's name.
	Node string `json:"node"`
	// Time is the decision's time; conditions see its milliseconds.
	Time time.Time `json:"time"`
	// ClockSynchronized says whether the node's clock is known to be right.
	ClockSynchronized bool `json:"clockSynchronized"`
	// Changed says what an update changed, in the words of docs/abi.md.
	Changed []string `json:"changed"`
	// Connection is that of the hook connect, nil for others.
	Connection *api.Connection `json:"connection"`
}

// The variables of expressions, and the types of their values.
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
