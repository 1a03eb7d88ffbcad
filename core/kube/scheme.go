package kube

import (
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// groupVersions are the groups and versions in a client's requests.
var groupVersions = []schema.GroupVersion{
	v1.SchemeGroupVersion, coordination.SchemeGroupVersion, authentication.SchemeGroupVersion, authorization.SchemeGroupVersion, nodev1.SchemeGroupVersion,
	certificates.SchemeGroupVersion,
}

// codecs returns the codecs for the types that the agent reads and writes, watch events and an API
// server's errors. It registers no others, because registered types are linked with all their
// methods.
func codecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(v1.SchemeGroupVersion, &v1.Pod{}, &v1.PodList{}, &v1.Node{}, &v1.NodeList{}, &v1.Event{})
	scheme.AddKnownTypes(v1.SchemeGroupVersion, &v1.ConfigMap{}, &v1.ConfigMapList{}, &v1.Secret{}, &v1.SecretList{}, &v1.Service{}, &v1.ServiceList{})
	scheme.AddKnownTypes(authentication.SchemeGroupVersion, &authentication.TokenRequest{}, &authentication.TokenReview{})
	scheme.AddKnownTypes(authorization.SchemeGroupVersion, &authorization.SubjectAccessReview{})
	scheme.AddKnownTypes(certificates.SchemeGroupVersion, &certificates.CertificateSigningRequest{})
	scheme.AddKnownTypes(coordination.SchemeGroupVersion, &coordination.Lease{})
	scheme.AddKnownTypes(nodev1.SchemeGroupVersion, &nodev1.RuntimeClass{}, &nodev1.RuntimeClassList{})
	for _, gv := range groupVersions {
		metav1.AddToGroupVersion(scheme, gv)
	}
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}
