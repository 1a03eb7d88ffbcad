package criconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// seenFormat is RFC 3339 with always nine fractional digits, as a kubelet writes config.seen.
const seenFormat = "2006-01-02T15:04:05.000000000Z07:00"

// Annotations of containers, as a kubelet writes them. With them a container whose definition is
// lost can still be stopped and reported properly.
const (
	annotationHash             = "io.kubernetes.container.hash"
	annotationDefinition       = "wardlet.dev/definition-hash" // the agent's own hash
	annotationRestartCount     = "io.kubernetes.container.restartCount"
	AnnotationMessagePath      = "io.kubernetes.container.terminationMessagePath"
	AnnotationMessagePolicy    = "io.kubernetes.container.terminationMessagePolicy"
	annotationPreStop          = "io.kubernetes.container.preStopHandler"
	annotationPorts            = "io.kubernetes.container.ports"
	annotationDeletionGrace    = "io.kubernetes.pod.deletionGracePeriod"
	annotationTerminationGrace = "io.kubernetes.pod.terminationGracePeriod"
)

// sandboxAnnotations returns the pod's own annotations and the marks of this installation, which
// replace annotations of the same keys. It returns notices if not all of the pod's annotations are
// included.
func (b *Builder) sandboxAnnotations(run *pod.SandboxRun) (map[string]string, []Notice, error) {
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
	annotations, notices := limitAnnotations(run.Pod.Annotations)
	annotations[pod.AnnotationSeen] = run.Seen.Format(seenFormat)
	annotations[pod.AnnotationInstallation] = b.config.Installation
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

func (b *Builder) containerAnnotations(run *pod.ContainerRun) (map[string]string, error) {
	p, c := run.Pod, run.Container
	annotations := map[string]string{
		annotationHash:             kubeletHash(c),
		annotationDefinition:       ContainerHash(c),
		annotationRestartCount:     strconv.FormatUint(uint64(run.Attempt), 10),
		AnnotationMessagePath:      c.TerminationMessagePath,
		AnnotationMessagePolicy:    string(c.TerminationMessagePolicy),
		pod.AnnotationInstallation: b.config.Installation,
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

// RestoreContainer returns the definition of the named container as far as its annotations contain
// it: what is needed to stop a container whose spec is lost, as in a kubelet. An annotation that
// cannot be read is left out, and the error names it.
func RestoreContainer(name string, annotations map[string]string) (*v1.Container, error) {
	c := &v1.Container{Name: name, TerminationMessagePath: annotations[AnnotationMessagePath]}
	var preStop *v1.LifecycleHandler
	err := errors.Join(restoreJSON(annotations, annotationPreStop, &preStop), restoreJSON(annotations, annotationPorts, &c.Ports))
	if preStop != nil {
		c.Lifecycle = &v1.Lifecycle{PreStop: preStop}
	}
	return c, err
}

// restoreJSON reads an annotation, if there is one.
func restoreJSON[T any](annotations map[string]string, key string, value *T) error {
	text, ok := annotations[key]
	if !ok {
		return nil
	}
	var read T
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return fmt.Errorf("annotation %s of the container cannot be read: %w", key, err)
	}
	*value = read
	return nil
}

// annotateJSON adds an annotation, unless it is longer than maxAnnotationBytes.
func annotateJSON(annotations map[string]string, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("annotation %s: %w", key, err)
	}
	if len(text) <= maxAnnotationBytes {
		annotations[key] = string(text)
	}
	return nil
}

// maxAnnotationBytes is the maximum size in bytes of a pod's annotations on its sandbox, and of
// each annotation made from a container's definition. A runtime lists all sandboxes of the node in
// one message, which in containerd has at most 16 MiB. If the message were longer, no pod of the
// node would be visible any more. With [pod.MaxLabels] the message has room for 200 sandboxes.
const maxAnnotationBytes = 16 << 10

// maxKeysNamed is how many omitted annotations a notice names.
const maxKeysNamed = 3

// limitAnnotations returns the annotations of a pod that its sandbox gets: the shortest ones, and
// always the one that names the pod's source. If that is not all, it returns a notice.
func limitAnnotations(annotations map[string]string) (map[string]string, []Notice) {
	keys := slices.SortedFunc(maps.Keys(annotations), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a)+len(annotations[a]), len(b)+len(annotations[b])), cmp.Compare(a, b))
	})
	kept, size := make(map[string]string, len(keys)), 0
	var left []string
	for _, key := range keys {
		size += len(key) + len(annotations[key]) + pod.EntryCost
		if size <= maxAnnotationBytes || key == pod.AnnotationSource {
			kept[key] = annotations[key]
		} else {
			left = append(left, key)
		}
	}
	if len(left) == 0 {
		return kept, nil
	}
	return kept, []Notice{{
		Reason: "AnnotationsTooLong",
		Message: fmt.Sprintf("the annotations have more than %d bytes together: %d of them, the longest, are not on the sandbox, where CNI plugins and the runtime would read them (%q); shorten them if these need them",
			maxAnnotationBytes, len(left), left[max(len(left)-maxKeysNamed, 0):]),
	}}
}

// DefinitionHash returns the definition hash with which a container of this installation was
// created. It returns "" for a container of a kubelet, which then counts as unchanged.
func DefinitionHash(annotations map[string]string) string {
	if _, marked := annotations[pod.AnnotationInstallation]; !marked {
		return ""
	}
	if hash, ok := annotations[annotationDefinition]; ok {
		return hash
	}
	return annotations[annotationHash] // of an earlier version, which had its own hash there
}

// OfKubelet reports whether the annotations are those with which a kubelet creates a container of a
// definition, or the agent in the place of a kubelet.
func OfKubelet(annotations map[string]string, c *v1.Container) bool {
	return annotations[annotationHash] == kubeletHash(c)
}
