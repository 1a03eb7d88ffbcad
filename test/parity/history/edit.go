package history

import (
	"maps"
	"reflect"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// edit is a change of one thing in a pod that the caller owns. do returns the path of the changed
// field.
type edit struct {
	weight int
	do     func(*world, *v1.Pod) string
}

// The edits of fields that a kubelet compares, and of fields that it does not compare.
var edits = []edit{
	{6, func(w *world, p *v1.Pod) string {
		p.Spec.Containers[0].Image = pick(w.rand, "a:1", "a:2", "b:1")
		return ".Spec.Containers[].Image"
	}},
	{12, func(w *world, p *v1.Pod) string { return ".Spec" + alter(w.rand, reflect.ValueOf(&p.Spec).Elem()) }},
	{4, func(w *world, p *v1.Pod) string { return w.editMap(".Labels", &p.Labels, "app", "tier", "") }},
	{4, func(w *world, p *v1.Pod) string {
		return w.editMap(".Annotations", &p.Annotations, "note", "owner", "")
	}},
	{1, func(w *world, p *v1.Pod) string {
		return w.editMap(".Annotations", &p.Annotations, pod.AnnotationHash)
	}},
	{3, func(w *world, p *v1.Pod) string {
		return w.editMap(".Annotations", &p.Annotations, pod.AnnotationSource, pod.AnnotationSeen, pod.AnnotationMirror)
	}},
	{4, beginDeletion},
	{3, shortenGrace},
	{1, func(_ *world, p *v1.Pod) string {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
		return ".DeletionTimestamp"
	}},
	{3, func(w *world, p *v1.Pod) string {
		p.Status.Phase = pick(w.rand, v1.PodPending, v1.PodRunning, v1.PodSucceeded, v1.PodFailed)
		return ".Status.Phase"
	}},
	{6, func(w *world, p *v1.Pod) string { return ".Status" + alter(w.rand, reflect.ValueOf(&p.Status).Elem()) }},
	{6, editMetadata},
}

func beginDeletion(w *world, p *v1.Pod) string {
	at := metav1.NewTime(w.now().Add(30 * time.Second))
	grace := int64(30)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	return ".DeletionTimestamp"
}

// shortenGrace changes the grace period. In half of the cases it also changes the deletion time
// accordingly, as an API server does.
func shortenGrace(w *world, p *v1.Pod) string {
	if p.DeletionTimestamp == nil {
		return beginDeletion(w, p)
	}
	grace := w.rand.Int64N(20)
	p.DeletionGracePeriodSeconds = &grace
	if w.rand.IntN(2) == 0 {
		at := metav1.NewTime(w.now().Add(time.Duration(grace) * time.Second))
		p.DeletionTimestamp = &at
	}
	return ".DeletionGracePeriodSeconds"
}

// editMetadata changes a metadata field that is not compared.
func editMetadata(w *world, p *v1.Pod) string {
	name := pick(w.rand, uncompared...)
	return "." + name + alter(w.rand, reflect.ValueOf(&p.ObjectMeta).Elem().FieldByName(name))
}

// uncompared are the metadata fields that are ignored when two versions of a pod are compared.
var uncompared = []string{
	"GenerateName", "SelfLink", "ResourceVersion", "Generation", "CreationTimestamp",
	"OwnerReferences", "Finalizers", "ManagedFields",
}

func (w *world) editMap(path string, m *map[string]string, keys ...string) string {
	key := pick(w.rand, keys...)
	next := maps.Clone(*m)
	if next == nil {
		next = map[string]string{}
	}
	if _, ok := next[key]; ok && w.rand.IntN(3) == 0 {
		delete(next, key)
	} else {
		next[key] = pick(w.rand, "", "x", "y", "z")
	}
	if *m = next; len(next) == 0 {
		*m = nil
	}
	return path + "[" + key + "]"
}

// edit returns a new version of the pod with one thing changed.
func (w *world) edit(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	total := 0
	for _, e := range edits {
		total += e.weight
	}
	n := w.rand.IntN(total)
	for _, e := range edits {
		if n -= e.weight; n < 0 {
			w.edited[e.do(w, p)]++
			break
		}
	}
	if len(p.Spec.Containers) == 0 {
		p.Spec.Containers = []v1.Container{{Name: "c"}}
	}
	return p
}

// rewrite returns a pod that means the same but is written differently: an empty value is left out
// or added, or a quantity or a time is written in another way.
func (w *world) rewrite(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	switch w.rand.IntN(5) {
	case 0:
		p.Labels = other(p.Labels)
	case 1:
		p.Spec.NodeSelector = other(p.Spec.NodeSelector)
	case 2:
		if len(p.Spec.Tolerations) == 0 {
			p.Spec.Tolerations = map[bool][]v1.Toleration{true: {}}[p.Spec.Tolerations == nil]
		}
	case 3:
		if at := p.DeletionTimestamp; at != nil {
			zone := time.FixedZone("", (1+w.rand.IntN(9))*3600)
			p.DeletionTimestamp = &metav1.Time{Time: at.In(zone)}
		}
	case 4:
		if len(p.Status.Conditions) == 0 {
			p.Status.Conditions = map[bool][]v1.PodCondition{true: {}}[p.Status.Conditions == nil]
		}
	}
	return p
}

// other returns an empty map for nil and nil for an empty map; other maps stay as they are.
func other(m map[string]string) map[string]string {
	switch {
	case m == nil:
		return map[string]string{}
	case len(m) == 0:
		return nil
	}
	return m
}

// newPod returns a pod that has values to edit.
func (w *world) newPod(name types.NamespacedName, uid types.UID) *v1.Pod {
	w.edited["(added)"]++
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name.Name, Namespace: name.Namespace, UID: uid,
			Labels: map[string]string{"app": "x"}, ResourceVersion: strconv.Itoa(w.versions),
			CreationTimestamp: metav1.NewTime(w.now()),
		},
		Spec: v1.PodSpec{
			Containers: []v1.Container{{
				Name: "c", Image: "a:1", Env: []v1.EnvVar{{Name: "A", Value: "1"}},
			}},
			Tolerations: []v1.Toleration{{Operator: v1.TolerationOpExists}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}
