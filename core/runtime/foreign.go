package runtime

import (
	"context"

	"github.com/wardlet/wardlet/core/pod"
)

// ours reports whether a sandbox or container is this installation's: by its
// mark or, where foreign pods are adopted, because a kubelet made it.
func (r *Runtime) ours(annotations, labels map[string]string) bool {
	if mark, marked := annotations[pod.AnnotationInstallation]; marked {
		return mark == r.config.Installation
	}
	return r.config.AdoptForeign && kubelets(labels)
}

// kubelets reports whether the labels are those a kubelet gives.
func kubelets(labels map[string]string) bool { return labels[pod.LabelPodUID] != "" }

// definitionHash is the hash a container of ours was made with. Of one that a
// kubelet made nothing is known: it passes for what its pod says.
func definitionHash(annotations map[string]string) string {
	if _, marked := annotations[pod.AnnotationInstallation]; !marked {
		return ""
	}
	return annotations[annotationHash]
}

// Foreign counts the pods that are not this installation's.
func (r *Runtime) Foreign(ctx context.Context) (int, error) {
	sandboxes, err := r.listSandboxes(ctx, nil)
	if err != nil {
		return 0, err
	}
	foreign := map[string]bool{}
	for _, s := range sandboxes {
		if !r.ours(s.GetAnnotations(), s.GetLabels()) {
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
		_, marked := s.GetAnnotations()[pod.AnnotationInstallation]
		if kubelets(s.GetLabels()) && !marked {
			return true, nil
		}
	}
	return false, nil
}

// KubeletWarning is for a runtime on which Runtime.ForeignKubelet is true.
const KubeletWarning = "pods of a kubelet are present; a kubelet ends runtime pods it does not know, ours among them"
