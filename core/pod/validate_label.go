package pod

import (
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

// validateLabels checks the labels, one by one and together.
func validateLabels(labels map[string]string, at *field.Path) field.ErrorList {
	size := 0
	for key, value := range labels {
		size += len(key) + len(value) + EntryCost
	}
	if size > MaxLabels {
		long := field.TooLong(at, "", MaxLabels)
		long.Detail += " together; put what nothing selects by into annotations"
		return field.ErrorList{long}
	}
	return metavalidation.ValidateLabels(labels, at)
}
