package pod

import v1 "k8s.io/api/core/v1"

// QOS returns the pod's quality of service class. If its status already has a class, it returns
// that one. The resources of the whole pod, if it has them, decide alone.
func QOS(p *v1.Pod) v1.PodQOSClass {
	if p.Status.QOSClass != "" {
		return p.Status.QOSClass
	}
	requested, guaranteed := false, true
	count := func(r *v1.ResourceRequirements) {
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
			request, limit := r.Requests[name], r.Limits[name]
			requested = requested || request.Sign() > 0 || limit.Sign() > 0
			guaranteed = guaranteed && limit.Sign() > 0 && request.Cmp(limit) == 0
		}
	}
	if p.Spec.Resources != nil {
		count(p.Spec.Resources)
	} else {
		for c, kind := range Containers(p) {
			if kind != EphemeralContainer { // it has no resources of its own
				count(&c.Resources)
			}
		}
	}
	switch {
	case !requested:
		return v1.PodQOSBestEffort
	case guaranteed:
		return v1.PodQOSGuaranteed
	default:
		return v1.PodQOSBurstable
	}
}
