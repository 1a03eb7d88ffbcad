package manifest

import (
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/pod"
)

// validateLabels checks the labels, one by one and together.
func validateLabels(labels map[string]string, at *field.Path) field.ErrorList {
	size := 0
	for key, value := range labels {
		size += len(key) + len(value) + pod.EntryCost
	}
	if size > pod.MaxLabels {
		long := field.TooLong(at, "", pod.MaxLabels)
		long.Detail += " together; put what nothing selects by into annotations"
		return field.ErrorList{long}
	}
	return metavalidation.ValidateLabels(labels, at)
}
