package runtime

import (
	"context"

	"github.com/wardlet/wardlet/core/pod"
)

// ours reports whether annotations carry this installation's mark.
func (r *Runtime) ours(annotations map[string]string) bool {
	return annotations[pod.AnnotationInstallation] == r.config.Installation
}

// Foreign counts the pods that are not this installation's.
func (r *Runtime) Foreign(ctx context.Context) (int, error) {
	sandboxes, err := r.listSandboxes(ctx, nil)
	if err != nil {
		return 0, err
	}
	foreign := map[string]bool{}
	for _, s := range sandboxes {
		if !r.ours(s.GetAnnotations()) {
			foreign[s.GetMetadata().GetUid()] = true
		}
	}
	return len(foreign), nil
}

// ForeignKubelet reports whether there are pods that look like a kubelet's:
// its labels, and no mark of any Wardlet. A kubelet ends runtime pods it does
// not know, ours among them.
func (r *Runtime) ForeignKubelet(ctx context.Context) (bool, error) {
	sandboxes, err := r.listSandboxes(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, s := range sandboxes {
		_, kubelet := s.GetLabels()[pod.LabelPodUID]
		_, marked := s.GetAnnotations()[pod.AnnotationInstallation]
		if kubelet && !marked {
			return true, nil
		}
	}
	return false, nil
}
