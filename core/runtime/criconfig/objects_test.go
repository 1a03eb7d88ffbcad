package criconfig

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wardlet/wardlet/core/pod"
)

// objects has the objects of a test: a ConfigMap m, a Secret s, and services by namespace.
type objects struct{ services map[string][]*v1.Service }

func (objects) ConfigMap(_ context.Context, _ *v1.Pod, name string) (*v1.ConfigMap, error) {
	if name != "m" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return &v1.ConfigMap{Data: map[string]string{"b": "2$(OTHER)", "a.b-c": "1"}}, nil
}

func (objects) Secret(_ context.Context, _ *v1.Pod, name string) (*v1.Secret, error) {
	if name != "s" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return &v1.Secret{Data: map[string][]byte{"b": []byte("secret")}}, nil
}

func (o objects) Services(_ context.Context, _ *v1.Pod, namespace string) ([]*v1.Service, error) {
	return o.services[namespace], nil
}

func service(name, ip string, ports ...v1.ServicePort) *v1.Service {
	return &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ServiceSpec{ClusterIP: ip, Ports: ports}}
}

func TestVariables_ofObjects(t *testing.T) {
	t.Parallel()
	named := func(name string) v1.LocalObjectReference { return v1.LocalObjectReference{Name: name} }
	mapKey := func(name, key string, optional *bool) *v1.EnvVarSource {
		return &v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: named(name), Key: key, Optional: optional}}
	}
	secretKey := func(name, key string, optional *bool) *v1.EnvVarSource {
		return &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: named(name), Key: key, Optional: optional}}
	}
	fromMap := func(name, prefix string, optional *bool) v1.EnvFromSource {
		return v1.EnvFromSource{Prefix: prefix, ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: named(name), Optional: optional}}
	}
	fromSecret := func(name string, optional *bool) v1.EnvFromSource {
		return v1.EnvFromSource{SecretRef: &v1.SecretEnvSource{LocalObjectReference: named(name), Optional: optional}}
	}
	for name, test := range map[string]struct {
		from []v1.EnvFromSource
		env  []v1.EnvVar
		want string
		err  string
	}{
		"keys":                       {env: []v1.EnvVar{{Name: "A", ValueFrom: mapKey("m", "b", nil)}, {Name: "B", ValueFrom: secretKey("s", "b", nil)}}, want: "A=2$(OTHER) B=secret"},
		"all of a ConfigMap":         {from: []v1.EnvFromSource{fromMap("m", "", nil)}, want: "a.b-c=1 b=2$(OTHER)"},
		"with a prefix":              {from: []v1.EnvFromSource{fromMap("m", "P_", nil)}, want: "P_a.b-c=1 P_b=2$(OTHER)"},
		"a later object wins":        {from: []v1.EnvFromSource{fromMap("m", "", nil), fromSecret("s", nil)}, want: "a.b-c=1 b=secret"},
		"the spec wins, and expands": {from: []v1.EnvFromSource{fromSecret("s", nil)}, env: []v1.EnvVar{{Name: "C", Value: "<$(b)>"}, {Name: "b", Value: "own"}}, want: "b=own C=<secret>"},
		"no object":                  {env: []v1.EnvVar{{Name: "A", ValueFrom: mapKey("none", "b", nil)}}, err: `env "A": configmaps "none" not found`},
		"no key":                     {env: []v1.EnvVar{{Name: "A", ValueFrom: secretKey("s", "none", nil)}}, err: `env "A": Secret s has no key "none"`},
		"no object that need not be": {env: []v1.EnvVar{{Name: "A", ValueFrom: mapKey("none", "b", new(true))}, {Name: "B", Value: "x"}}, want: "B=x"},
		"no key that need not be":    {env: []v1.EnvVar{{Name: "A", ValueFrom: secretKey("s", "none", new(true))}}, want: ""},
		"nothing to take all of":     {from: []v1.EnvFromSource{fromSecret("none", nil)}, err: `envFrom[0]: secrets "none" not found`},
		"that need not be":           {from: []v1.EnvFromSource{fromSecret("none", new(true)), fromMap("none", "", new(true))}, want: ""},
	} {
		b := plainBuilder()
		b.config.Objects = objects{}
		p := newPod("web")
		p.Annotations = map[string]string{pod.AnnotationSource: "api"}
		p.Spec.Containers[0].EnvFrom, p.Spec.Containers[0].Env = test.from, test.env
		run := fullRun(p)
		config, err := b.Container(t.Context(), &run, nil)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %s", name, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, v := range config.GetEnvs() {
			got = append(got, v.GetKey()+"="+string(v.GetValue()))
		}
		mustEqual(t, name, test.want, strings.Join(got, " "))
	}
}

func TestVariables_ofServices(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	b.config.Objects = objects{map[string][]*v1.Service{
		metav1.NamespaceDefault: {service("kubernetes", "10.0.0.1", v1.ServicePort{Name: "https", Port: 443}), service("other", "10.0.0.9", v1.ServicePort{Port: 1})},
		"shop": {
			service("web-api", "fd00::2", v1.ServicePort{Port: 80, Protocol: v1.ProtocolTCP}, v1.ServicePort{Name: "dns-udp", Port: 53, Protocol: v1.ProtocolUDP}),
			service("headless", v1.ClusterIPNone, v1.ServicePort{Port: 1}), service("waits", "", v1.ServicePort{Port: 1}),
		},
	}}
	const api = "KUBERNETES_SERVICE_HOST=10.0.0.1 KUBERNETES_SERVICE_PORT=443 KUBERNETES_SERVICE_PORT_HTTPS=443 KUBERNETES_PORT=tcp://10.0.0.1:443 " +
		"KUBERNETES_PORT_443_TCP=tcp://10.0.0.1:443 KUBERNETES_PORT_443_TCP_PROTO=tcp KUBERNETES_PORT_443_TCP_PORT=443 KUBERNETES_PORT_443_TCP_ADDR=10.0.0.1"
	const web = "WEB_API_SERVICE_HOST=fd00::2 WEB_API_SERVICE_PORT=80 WEB_API_SERVICE_PORT_DNS_UDP=53 WEB_API_PORT=tcp://[fd00::2]:80 " +
		"WEB_API_PORT_80_TCP=tcp://[fd00::2]:80 WEB_API_PORT_80_TCP_PROTO=tcp WEB_API_PORT_80_TCP_PORT=80 WEB_API_PORT_80_TCP_ADDR=fd00::2 " +
		"WEB_API_PORT_53_UDP=udp://[fd00::2]:53 WEB_API_PORT_53_UDP_PROTO=udp WEB_API_PORT_53_UDP_PORT=53 WEB_API_PORT_53_UDP_ADDR=fd00::2"
	for name, test := range map[string]struct {
		links  *bool
		source string
		want   string
	}{
		"of its namespace":         {new(true), "api", api + " " + web},
		"by default":               {nil, "api", api + " " + web},
		"of the API server only":   {new(false), "api", api},
		"a pod of the node itself": {new(true), "file", ""},
	} {
		p := newPod("web")
		p.Namespace, p.Spec.EnableServiceLinks = "shop", test.links
		p.Annotations = map[string]string{pod.AnnotationSource: test.source}
		all, err := b.serviceVariables(t.Context(), p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, v := range all {
			got = append(got, v.name+"="+v.value)
		}
		mustEqual(t, name, test.want, strings.Join(got, " "))
	}
}

func TestExpandPath(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	p := newPod("web")
	p.Spec.Containers[0].Env = []v1.EnvVar{{Name: "A", Value: "x"}, {Name: "EMPTY"}}
	run := fullRun(p)
	for path, want := range map[string]string{"$(A)/b": "x/b", "a/$$(A)": "a/$(A)", "plain": "plain"} {
		got, err := b.ExpandPath(t.Context(), &run, path)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"$(NONE)/$(B)": "missing value for B, NONE", "$(EMPTY)": "missing value for EMPTY"} {
		if _, err := b.ExpandPath(t.Context(), &run, path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
