package manifest

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/wardlet/wardlet/core/pod"
)

// claimed is the identity of the pod that a document with faults would be, zero
// where it does not name one that there can be.
func claimed(text []byte, node string) types.NamespacedName {
	var said struct {
		Metadata struct {
			Name        string         `json:"name"`
			Namespace   string         `json:"namespace"`
			Annotations map[string]any `json:"annotations"`
		} `json:"metadata"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &said); err != nil || said.Metadata.Name == "" {
		return types.NamespacedName{}
	}
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: said.Metadata.Name, Namespace: said.Metadata.Namespace}}
	if mark, ok := said.Metadata.Annotations[pod.AnnotationIdentity]; ok {
		identity, _ := mark.(string)
		if len(apivalidation.NameIsDNSSubdomain(identity, false)) > 0 {
			return types.NamespacedName{}
		}
		p.Annotations = map[string]string{pod.AnnotationIdentity: identity}
	}
	place(p, node)
	if len(apivalidation.NameIsDNSSubdomain(p.Name, false)) > 0 || len(apivalidation.ValidateNamespaceName(p.Namespace, false)) > 0 {
		return types.NamespacedName{}
	}
	return pod.Identity(p)
}

// place sets the name and namespace that a pod has on this node.
func place(p *v1.Pod, node string) {
	p.Name += "-" + strings.ToLower(node)
	if p.Namespace == "" {
		p.Namespace = metav1.NamespaceDefault
	}
}
