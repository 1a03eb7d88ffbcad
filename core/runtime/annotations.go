package runtime

import (
	"encoding/json"
	"fmt"
	"strconv"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// seenFormat is RFC 3339 with nine digits always, as a kubelet writes
// config.seen.
const seenFormat = "2006-01-02T15:04:05.000000000Z07:00"

// Annotations of containers, as a kubelet writes them: with them a container
// whose definition is lost can still be ended and reported properly.
const (
	annotationHash             = "io.kubernetes.container.hash"
	annotationRestartCount     = "io.kubernetes.container.restartCount"
	annotationMessagePath      = "io.kubernetes.container.terminationMessagePath"
	annotationMessagePolicy    = "io.kubernetes.container.terminationMessagePolicy"
	annotationPreStop          = "io.kubernetes.container.preStopHandler"
	annotationPorts            = "io.kubernetes.container.ports"
	annotationDeletionGrace    = "io.kubernetes.pod.deletionGracePeriod"
	annotationTerminationGrace = "io.kubernetes.pod.terminationGracePeriod"
)

// sandboxAnnotations are the pod's own and, over them, the marks of this
// installation: what a document says in their place does not count.
// With notices where not all of the pod's are there.
func (r *Runtime) sandboxAnnotations(run *pod.SandboxRun) (map[string]string, []notice, error) {
	instance := run.Instance
	if instance == "" {
		var err error
		if instance, err = pod.Instance(run.Pod); err != nil {
			return nil, nil, err
		}
	}
	final, err := pod.FinalHash(run.Pod)
	if err != nil {
		return nil, nil, err
	}
	made, err := pod.MadeFrom(run.Pod)
	if err != nil {
		return nil, nil, err
	}
	annotations, notices := listable(run.Pod.Annotations)
	annotations[pod.AnnotationSeen] = run.Seen.Format(seenFormat)
	annotations[pod.AnnotationInstallation] = r.config.Installation
	annotations[pod.AnnotationDocument] = run.Document
	annotations[pod.AnnotationInstance] = instance
	annotations[pod.AnnotationFinal] = final
	annotations[pod.AnnotationMadeFrom] = made
	delete(annotations, pod.AnnotationMutated)
	if run.Instance != "" {
		annotations[pod.AnnotationMutated] = "true"
	}
	return annotations, notices, nil
}

func (r *Runtime) containerAnnotations(run *pod.ContainerRun) (map[string]string, error) {
	p, c := run.Pod, run.Container
	annotations := map[string]string{
		annotationHash:             ContainerHash(c),
		annotationRestartCount:     strconv.FormatUint(uint64(run.Attempt), 10),
		annotationMessagePath:      c.TerminationMessagePath,
		annotationMessagePolicy:    string(c.TerminationMessagePolicy),
		pod.AnnotationInstallation: r.config.Installation,
		pod.AnnotationDocument:     run.Sandbox.Document,
	}
	if grace := p.DeletionGracePeriodSeconds; grace != nil {
		annotations[annotationDeletionGrace] = strconv.FormatInt(*grace, 10)
	}
	if grace := p.Spec.TerminationGracePeriodSeconds; grace != nil {
		annotations[annotationTerminationGrace] = strconv.FormatInt(*grace, 10)
	}
	if c.Lifecycle != nil && c.Lifecycle.PreStop != nil {
		if err := annotateJSON(annotations, annotationPreStop, c.Lifecycle.PreStop); err != nil {
			return nil, err
		}
	}
	if len(c.Ports) > 0 {
		if err := annotateJSON(annotations, annotationPorts, c.Ports); err != nil {
			return nil, err
		}
	}
	return annotations, nil
}

// annotateJSON adds an annotation, unless it were too long to be listed.
func annotateJSON(annotations map[string]string, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("annotation %s: %w", key, err)
	}
	if len(text) <= maxListed {
		annotations[key] = string(text)
	}
	return nil
}

func containerLabels(p *v1.Pod, c *v1.Container) map[string]string {
	labels := podLabels(p)
	labels[pod.LabelContainerName] = c.Name
	return labels
}
