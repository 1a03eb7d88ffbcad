package object

import (
	"context"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// kind is a kind of objects that pods name. package kube has its types in its scheme.
type kind struct {
	name         string
	resource     schema.GroupVersionResource
	object, list runtime.Object
	// secret is true for what is encrypted on the disk.
	secret bool
}

// localKinds are the kinds that a directory may have.
var localKinds = []*kind{configMaps, secrets, runtimeClasses}

var (
	configMaps = &kind{"ConfigMap", v1.SchemeGroupVersion.WithResource("configmaps"), &v1.ConfigMap{}, &v1.ConfigMapList{}, false}
	secrets    = &kind{"Secret", v1.SchemeGroupVersion.WithResource("secrets"), &v1.Secret{}, &v1.SecretList{}, true}
	services   = &kind{"Service", v1.SchemeGroupVersion.WithResource("services"), &v1.Service{}, &v1.ServiceList{}, false}

	runtimeClasses = &kind{"RuntimeClass", nodev1.SchemeGroupVersion.WithResource("runtimeclasses"), &nodev1.RuntimeClass{}, &nodev1.RuntimeClassList{}, false}
)

// key is an object, or all objects of a namespace where the name is empty; its namespace is empty for one of the whole
// cluster or node.
type key struct {
	kind *kind
	types.NamespacedName
	// local is true for an object of the node's own directory, which only static pods see.
	local bool
}

// of returns the key of an object as a pod sees it.
func of(p *v1.Pod, k *kind, namespace, name string) key {
	return key{k, types.NamespacedName{Namespace: namespace, Name: name}, pod.IsStatic(p)}
}

func (k key) String() string {
	if k.local {
		return "local " + k.kind.name + " " + k.fullName()
	}
	return k.kind.name + " " + k.fullName()
}

// selector is what a server is asked for within the namespace.
func (k key) selector() string {
	if k.Name == "" {
		return ""
	}
	return fields.OneTermEqualSelector("metadata.name", k.Name).String()
}

// fullName is the name, with the namespace where there is one.
func (k key) fullName() string {
	switch {
	case k.Namespace == "":
		return k.Name
	case k.Name == "":
		return k.Namespace + "/*"
	}
	return k.NamespacedName.String()
}

// ConfigMap returns a ConfigMap of the pod's namespace that the pod names, and watches it from then on. The error is a
// NotFound of package apierrors where there is none, any other where that is not known yet. Callers do not
// change what is returned.
func (p *Plane) ConfigMap(ctx context.Context, by *v1.Pod, name string) (*v1.ConfigMap, error) {
	object, err := p.get(ctx, by, of(by, configMaps, by.Namespace, name))
	if err != nil {
		return nil, err
	}
	return object.(*v1.ConfigMap), nil
}

// Secret returns a Secret of the pod's namespace that the pod names, as ConfigMap does.
func (p *Plane) Secret(ctx context.Context, by *v1.Pod, name string) (*v1.Secret, error) {
	object, err := p.get(ctx, by, of(by, secrets, by.Namespace, name))
	if err != nil {
		return nil, err
	}
	return object.(*v1.Secret), nil
}

// Services returns the services of a namespace, in the order of their names, and watches them for the pod from then on. A
// change of one wakes no pod: its variables are made when a container starts. The error says that they are not known yet.
func (p *Plane) Services(ctx context.Context, by *v1.Pod, namespace string) ([]*v1.Service, error) {
	all, err := p.all(ctx, by, of(by, services, namespace, ""))
	if err != nil {
		return nil, err
	}
	list := make([]*v1.Service, 0, len(all))
	for _, name := range sortedNames(all) {
		list = append(list, all[name].(*v1.Service))
	}
	return list, nil
}

func sortedNames(objects map[string]metav1.Object) []string { return slices.Sorted(maps.Keys(objects)) }

// RuntimeClass returns a RuntimeClass that the pod names, as ConfigMap does.
func (p *Plane) RuntimeClass(ctx context.Context, by *v1.Pod, name string) (*nodev1.RuntimeClass, error) {
	object, err := p.get(ctx, by, of(by, runtimeClasses, "", name))
	if err != nil {
		return nil, err
	}
	return object.(*nodev1.RuntimeClass), nil
}

// WatchRuntimeClass watches a RuntimeClass that the pod names before it is needed, and does not wait for it.
func (p *Plane) WatchRuntimeClass(by *v1.Pod, name string) {
	_, _, _ = p.use(of(by, runtimeClasses, "", name), user{uid: by.UID}) // the one error is that the plane ends
}
