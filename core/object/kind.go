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

// kind is a kind of object that pods can name. Its types are in the scheme of package kube.
type kind struct {
	name         string
	resource     schema.GroupVersionResource
	object, list runtime.Object
	// secret: objects of the kind are encrypted on the disk.
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

// key identifies an object, or all objects of a namespace if the name is empty. Its namespace is
// empty for an object of the whole cluster or node.
type key struct {
	kind *kind
	types.NamespacedName
	// local is true for an object of the node's own directory, which only static pods see.
	local bool
}

// of returns the key of an object that a pod names.
func of(p *v1.Pod, k *kind, namespace, name string) key {
	return key{k, types.NamespacedName{Namespace: namespace, Name: name}, pod.IsStatic(p)}
}

func (k key) String() string {
	if k.local {
		return "local " + k.kind.name + " " + k.fullName()
	}
	return k.kind.name + " " + k.fullName()
}

// selector returns the field selector for the objects within the namespace.
func (k key) selector() string {
	if k.Name == "" {
		return ""
	}
	return fields.OneTermEqualSelector("metadata.name", k.Name).String()
}

// fullName returns the name, with the namespace if there is one.
func (k key) fullName() string {
	switch {
	case k.Namespace == "":
		return k.Name
	case k.Name == "":
		return k.Namespace + "/*"
	}
	return k.NamespacedName.String()
}

// ConfigMap returns a ConfigMap of the pod's namespace that the pod names, and watches it from then
// on. The error is a NotFound of package apierrors if the ConfigMap does not exist, and another
// error if that is not known yet. Callers must not change the returned object.
func (p *Objects) ConfigMap(ctx context.Context, by *v1.Pod, name string) (*v1.ConfigMap, error) {
	object, err := p.get(ctx, by, of(by, configMaps, by.Namespace, name))
	if err != nil {
		return nil, err
	}
	return object.(*v1.ConfigMap), nil
}

// Secret returns a Secret of the pod's namespace that the pod names, as ConfigMap does.
func (p *Objects) Secret(ctx context.Context, by *v1.Pod, name string) (*v1.Secret, error) {
	object, err := p.get(ctx, by, of(by, secrets, by.Namespace, name))
	if err != nil {
		return nil, err
	}
	return object.(*v1.Secret), nil
}

// Services returns the services of a namespace, ordered by name, and watches them for the pod from
// then on. A change of a service wakes no pod, because variables are set when a container starts.
// An error means that the services are not known yet.
func (p *Objects) Services(ctx context.Context, by *v1.Pod, namespace string) ([]*v1.Service, error) {
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
func (p *Objects) RuntimeClass(ctx context.Context, by *v1.Pod, name string) (*nodev1.RuntimeClass, error) {
	object, err := p.get(ctx, by, of(by, runtimeClasses, "", name))
	if err != nil {
		return nil, err
	}
	return object.(*nodev1.RuntimeClass), nil
}

// Watch starts to watch all objects that the containers of a pod need, before they are needed, and
// does not wait for them: its ConfigMaps, Secrets and RuntimeClass, and the services of its variables.
func (p *Objects) Watch(by *v1.Pod) {
	keys := []key{}
	for _, r := range pod.References(by) {
		kind := configMaps
		if r.Secret {
			kind = secrets
		}
		keys = append(keys, of(by, kind, by.Namespace, r.Name))
	}
	if class := by.Spec.RuntimeClassName; class != nil && *class != "" {
		keys = append(keys, of(by, runtimeClasses, "", *class))
	}
	for _, namespace := range pod.ServiceNamespaces(by) {
		keys = append(keys, of(by, services, namespace, ""))
	}
	for _, k := range keys {
		_, _, _ = p.use(k, user{uid: by.UID}) // fails only after Run has ended
	}
}
