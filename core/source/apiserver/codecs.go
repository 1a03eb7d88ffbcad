package apiserver

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// codecs decode pods, lists of them, watch events and an API server's errors,
// and nothing else: types that are registered are linked with all their
// methods.
func codecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(v1.SchemeGroupVersion, &v1.Pod{}, &v1.PodList{})
	metav1.AddToGroupVersion(scheme, v1.SchemeGroupVersion)
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}
