package eval

import (
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// The words of docs/abi.md for what an update changes, in its order.
const (
	changedLabels = "labels"
	// changedAnnotations stands for all annotations except those that only this node
	// writes.
	changedAnnotations = "annotations"
	// changedImages: a container of any kind has another image, or there are other
	// containers.
	changedImages = "images"
	// changedResources: a container or the whole pod has other resources.
	changedResources = "resources"
	// changedContainers: anything else in the containers, or their number.
	changedContainers  = "containers"
	changedTolerations = "tolerations"
	// changedDeadline is activeDeadlineSeconds.
	changedDeadline = "deadline"
	// changedGrace is the grace period, in the spec or in a deletion.
	changedGrace = "grace"
	// changedSpec is any other part of the spec.
	changedSpec = "spec"
)

// Changes returns the words for what an update changes; nil for nothing, and for other
// operations.
func Changes(q *api.Question) (words []string) {
	if q.Op != api.UpdateOp || q.Old == nil || q.Old == q.Pod {
		return nil
	}
	say := func(word string, changed bool) {
		if changed {
			words = append(words, word)
		}
	}
	fields, old, now := pod.Diff(q.Old, q.Pod), &q.Old.Spec, &q.Pod.Spec
	say(changedLabels, fields.Has(pod.FieldLabels))
	say(changedAnnotations, fields.Has(pod.FieldAnnotations))
	if fields.Has(pod.FieldSpec) {
		before, after := containersOf(old), containersOf(now)
		say(changedImages, !maps.Equal(before.images, after.images))
		say(changedResources, differ(before.resources, after.resources) || differ(old.Resources, now.Resources))
		say(changedContainers, before.rest.differs(&after.rest))
		say(changedTolerations, differ(old.Tolerations, now.Tolerations))
		say(changedDeadline, differ(old.ActiveDeadlineSeconds, now.ActiveDeadlineSeconds))
	}
	say(changedGrace, fields.Has(pod.FieldDeletionGracePeriod) || differ(old.TerminationGracePeriodSeconds, now.TerminationGracePeriodSeconds))
	say(changedSpec, fields.Has(pod.FieldSpec) && differ(unworded(old), unworded(now)))
	return words
}

// differ reports whether two values differ in meaning, as pod.Diff compares.
func differ(a, b any) bool { return !equality.Semantic.DeepEqual(a, b) }

// containers are the containers of all kinds of a pod, with a field for each part that has
// a word of its own.
type containers struct {
	images map[containerKey]string
	// resources has the containers that set resources.
	resources map[containerKey]v1.ResourceRequirements
	rest      rest
}

// rest are the containers without images and resources, in their order.
type rest struct {
	init, main []v1.Container
	ephemeral  []v1.EphemeralContainer
}

func (r *rest) differs(other *rest) bool {
	return differ(r.init, other.init) || differ(r.main, other.main) || differ(r.ephemeral, other.ephemeral)
}

// containerKey identifies a container.
type containerKey struct{ kind, name string }

func containersOf(spec *v1.PodSpec) (all containers) {
	all.images, all.resources = map[containerKey]string{}, map[containerKey]v1.ResourceRequirements{}
	// part records the image and resources, and removes them from the copy.
	part := func(kind, name string, image *string, resources *v1.ResourceRequirements) {
		key := containerKey{kind, name}
		all.images[key] = *image
		if differ(*resources, v1.ResourceRequirements{}) {
			all.resources[key] = *resources
		}
		*image, *resources = "", v1.ResourceRequirements{}
	}
	for _, c := range spec.InitContainers {
		part("init", c.Name, &c.Image, &c.Resources)
		all.rest.init = append(all.rest.init, c)
	}
	for _, c := range spec.Containers {
		part("main", c.Name, &c.Image, &c.Resources)
		all.rest.main = append(all.rest.main, c)
	}
	for _, c := range spec.EphemeralContainers {
		part("ephemeral", c.Name, &c.Image, &c.Resources)
		all.rest.ephemeral = append(all.rest.ephemeral, c)
	}
	return all
}

// unworded returns a spec without the parts that have a word of their own.
func unworded(spec *v1.PodSpec) v1.PodSpec {
	rest := *spec
	rest.InitContainers, rest.Containers, rest.EphemeralContainers = nil, nil, nil
	rest.Resources, rest.Tolerations = nil, nil
	rest.ActiveDeadlineSeconds, rest.TerminationGracePeriodSeconds = nil, nil
	return rest
}
