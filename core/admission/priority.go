package admission

import "fmt"

// Priorities refuses pods whose priority is above the highest one of their tenant. Tenant returns
// the tenant of a namespace and that priority, and false if the namespace has no tenant.
type Priorities struct {
	Tenant func(namespace string) (tenant string, highest int32, ok bool)
}

// Admit implements Handler.
func (h Priorities) Admit(a *Attributes) Result {
	tenant, highest, ok := h.Tenant(a.Pod.Namespace)
	priority := int32(0) // of a pod without one
	if a.Pod.Spec.Priority != nil {
		priority = *a.Pod.Spec.Priority
	}
	if !ok || priority <= highest {
		return Result{Admitted: true}
	}
	return Result{
		Reason:  "PriorityTooHigh",
		Message: fmt.Sprintf("spec.priority is %d, and pods of tenant %s may have %d at most", priority, tenant, highest),
	}
}
