package plane

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// document returns a document with a pod. life makes its UID different from earlier lives.
func document(namespace, name, image string, life int) api.Document {
	uid := fmt.Sprintf("%s-%s-%d", namespace, name, life)
	return api.Document{Source: sourceName, ID: namespace + "-" + name + ".yaml#0", Version: uid, Pod: &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(uid),
			Annotations: map[string]string{pod.AnnotationSource: api.KindFile, pod.AnnotationHash: uid},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image}}},
	}}
}

// path returns the path of a document's manifest.
func path(d *api.Document) string {
	path, _ := api.ManifestOf(d.ID)
	return path
}
