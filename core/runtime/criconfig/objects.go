package criconfig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Objects returns the API objects for variables. Each method may wait for a short time; the error
// is a NotFound of package apierrors if the object does not exist.
type Objects interface {
	ConfigMap(ctx context.Context, p *v1.Pod, name string) (*v1.ConfigMap, error)
	Secret(ctx context.Context, p *v1.Pod, name string) (*v1.Secret, error)
	// Services returns the services of a namespace.
	Services(ctx context.Context, p *v1.Pod, namespace string) ([]*v1.Service, error)
}

var errNoObjects = errors.New("there is no API server to take it from")

func (b *Builder) configMapKey(ctx context.Context, p *v1.Pod, of *v1.ConfigMapKeySelector) (value string, ok bool, err error) {
	data, err := b.configMap(ctx, p, of.Name, of.Optional)
	if err != nil {
		return "", false, err
	}
	return keyOf("ConfigMap", of.Name, of.Key, data, of.Optional)
}

func (b *Builder) secretKey(ctx context.Context, p *v1.Pod, of *v1.SecretKeySelector) (value string, ok bool, err error) {
	data, err := b.secret(ctx, p, of.Name, of.Optional)
	if err != nil {
		return "", false, err
	}
	return keyOf("Secret", of.Name, of.Key, data, of.Optional)
}

func keyOf[T string | []byte](kind, object, key string, data map[string]T, optional *bool) (value string, ok bool, err error) {
	text, ok := data[key]
	if !ok && !isTrue(optional) {
		return "", false, fmt.Errorf("%s %s has no key %q", kind, object, key)
	}
	return string(text), ok, nil
}

// configMap returns the data of a ConfigMap, nil if it is optional and missing.
func (b *Builder) configMap(ctx context.Context, p *v1.Pod, name string, optional *bool) (map[string]string, error) {
	if b.config.Objects == nil {
		return nil, errNoObjects
	}
	object, err := b.config.Objects.ConfigMap(ctx, p, name)
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return object.Data, nil
}

// secret returns the data of a Secret, nil if it is optional and missing.
func (b *Builder) secret(ctx context.Context, p *v1.Pod, name string, optional *bool) (map[string][]byte, error) {
	if b.config.Objects == nil {
		return nil, errNoObjects
	}
	object, err := b.config.Objects.Secret(ctx, p, name)
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return object.Data, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// objectVariables returns the variables from an object: one for each key.
func (b *Builder) objectVariables(ctx context.Context, p *v1.Pod, from *v1.EnvFromSource) ([]variable, error) {
	switch {
	case from.ConfigMapRef != nil:
		data, err := b.configMap(ctx, p, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		return variablesOf(from.Prefix, data), err
	case from.SecretRef != nil:
		data, err := b.secret(ctx, p, from.SecretRef.Name, from.SecretRef.Optional)
		return variablesOf(from.Prefix, data), err
	}
	return nil, errors.New("want configMapRef or secretRef")
}

func variablesOf[T string | []byte](prefix string, data map[string]T) []variable {
	var all []variable
	for _, key := range slices.Sorted(maps.Keys(data)) {
		all = append(all, variable{prefix + key, string(data[key])})
	}
	return all
}

// apiService is the name of the API server's own service. Every pod gets its variables.
const apiService = "kubernetes"

// serviceVariables returns the variables of the API server's service and, unless the pod has
// disabled them, of the services in the pod's namespace. A pod of the node's own sources has none.
func (b *Builder) serviceVariables(ctx context.Context, p *v1.Pod) ([]variable, error) {
	if b.config.Objects == nil || pod.IsStatic(p) {
		return nil, nil
	}
	byName := map[string]*v1.Service{}
	for _, namespace := range pod.ServiceNamespaces(p) {
		all, err := b.config.Objects.Services(ctx, p, namespace)
		if err != nil {
			return nil, fmt.Errorf("variables of services: %w", err)
		}
		for _, s := range all {
			if namespace == p.Namespace && pod.HasServiceLinks(p) || namespace == metav1.NamespaceDefault && s.Name == apiService {
				byName[s.Name] = s
			}
		}
	}
	var all []variable
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, variablesOfService(byName[name])...)
	}
	return all, nil
}

// variablesOfService returns the variables of a service, in the form of Docker's former links; none
// if the service has no address.
func variablesOfService(s *v1.Service) []variable {
	ip := s.Spec.ClusterIP
	if ip == "" || ip == v1.ClusterIPNone || len(s.Spec.Ports) == 0 {
		return nil
	}
	name := variableName(s.Name)
	all := []variable{{name + "_SERVICE_HOST", ip}, {name + "_SERVICE_PORT", strconv.Itoa(int(s.Spec.Ports[0].Port))}}
	for i := range s.Spec.Ports {
		if port := &s.Spec.Ports[i]; port.Name != "" {
			all = append(all, variable{name + "_SERVICE_PORT_" + variableName(port.Name), strconv.Itoa(int(port.Port))})
		}
	}
	for i := range s.Spec.Ports {
		port := &s.Spec.Ports[i]
		protocol := string(port.Protocol)
		if protocol == "" {
			protocol = string(v1.ProtocolTCP)
		}
		number := strconv.Itoa(int(port.Port))
		url := strings.ToLower(protocol) + "://" + net.JoinHostPort(ip, number)
		if i == 0 {
			all = append(all, variable{name + "_PORT", url})
		}
		prefix := name + "_PORT_" + number + "_" + strings.ToUpper(protocol)
		all = append(all, variable{prefix, url}, variable{prefix + "_PROTO", strings.ToLower(protocol)},
			variable{prefix + "_PORT", number}, variable{prefix + "_ADDR", ip})
	}
	return all
}

func variableName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
