package manifest

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// systemClasses are the priorities of the classes that every cluster has. A node
// cannot look up others.
var systemClasses = map[string]int32{
	"system-cluster-critical": 2_000_000_000,
	"system-node-critical":    2_000_001_000,
}

// resolvePriority sets the priority of a manifest's pod to that of its class. One that
// says another number is at fault.
func resolvePriority(s *v1.PodSpec) field.ErrorList {
	of, known := systemClasses[s.PriorityClassName]
	if !known {
		return nil
	}
	setDefault(&s.Priority, new(of))
	if *s.Priority != of {
		return field.ErrorList{field.Invalid(specPath.Child("priority"), *s.Priority,
			fmt.Sprintf("must be that of the class %s, %d, or absent", s.PriorityClassName, of))}
	}
	return nil
}
