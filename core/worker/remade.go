package worker

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Remade reports whether what the runtime has of a static pod was made for another version
// of its document, and from something else. A default that a newer agent sets makes no other
// version, and a sandbox that does not say what it was made from is taken as it is.
func (p *Pool) Remade(about *v1.Pod, from *api.Origin) bool {
	sandbox := p.newestSandbox(about.UID)
	had := sandbox[pod.AnnotationMadeFrom]
	made, err := pod.MadeFrom(about)
	if err != nil || had == "" || made == had || !pod.IsStatic(about) {
		return false
	}
	instance := from.Instance
	if instance == "" {
		instance, err = pod.Instance(about)
	}
	return err == nil && instance != sandbox[pod.AnnotationInstance]
}

// newestSandbox returns the annotations of the newest sandbox of a pod, whether or not that
// is ready and the pod was inspected; nil where there is none.
func (p *Pool) newestSandbox(uid types.UID) map[string]string {
	observed, _ := p.cfg.Cache.Get(uid)
	if len(observed.Sandboxes) == 0 {
		listed, _ := p.cfg.Cache.Pods()
		if i := slices.IndexFunc(listed, func(o status.ObservedPod) bool { return o.UID == uid }); i >= 0 {
			observed = listed[i]
		}
	}
	if len(observed.Sandboxes) == 0 {
		return nil
	}
	return observed.Sandboxes[0].Annotations
}
