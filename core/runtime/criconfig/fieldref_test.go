package criconfig

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestFieldValue(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	b.config.Node = func() *v1.Node {
		return &v1.Node{Status: v1.NodeStatus{
			Addresses:   []v1.NodeAddress{{Type: v1.NodeHostName, Address: "n"}, {Type: v1.NodeInternalIP, Address: "192.0.2.7"}},
			Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi")},
		}}
	}
	p := newPod("web")
	p.Labels, p.Annotations = map[string]string{"app": "shop"}, map[string]string{"a/b": "c"}
	p.Spec.NodeName, p.Spec.ServiceAccountName = "n", "default"
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1100m")}
	p.Spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse("64Mi")}
	run := fullRun(p)
	run.SandboxIPs = []string{"10.88.0.3", "fd00::3"}
	field := func(path string) *v1.EnvVarSource {
		return &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: path}}
	}
	of := func(name, divisor string) *v1.EnvVarSource {
		s := &v1.ResourceFieldSelector{Resource: name}
		if divisor != "" {
			s.Divisor = resource.MustParse(divisor)
		}
		return &v1.EnvVarSource{ResourceFieldRef: s}
	}
	for name, test := range map[string]struct {
		from *v1.EnvVarSource
		want string
	}{
		"name":                      {field("metadata.name"), "web"},
		"namespace":                 {field("metadata.namespace"), "default"},
		"uid":                       {field("metadata.uid"), "uid-web"},
		"label":                     {field("metadata.labels['app']"), "shop"},
		"annotation":                {field("metadata.annotations['a/b']"), "c"},
		"node":                      {field("spec.nodeName"), "n"},
		"service account":           {field("spec.serviceAccountName"), "default"},
		"node's address":            {field("status.hostIP"), "192.0.2.7"},
		"pod's address":             {field("status.podIP"), "10.88.0.3"},
		"pod's addresses":           {field("status.podIPs"), "10.88.0.3,fd00::3"},
		"request, rounded up":       {of("requests.cpu", ""), "2"},
		"request, in parts":         {of("requests.cpu", "1m"), "1100"},
		"limit":                     {of("limits.memory", "1Mi"), "64"},
		"limit that is the node's":  {of("limits.cpu", ""), "4"},
		"request that is not there": {of("requests.memory", ""), "0"},
	} {
		if got, ok, err := b.variableValue(t.Context(), &run, test.from); err != nil || !ok || got != test.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
	for _, from := range []*v1.EnvVarSource{{}, field("spec.containers"), field("spec.labels['a']"), of("cpu", "")} {
		if got, _, err := b.variableValue(t.Context(), &run, from); err == nil {
			t.Errorf("%v is %q, want an error", from, got)
		}
	}
	p.Spec.HostNetwork = true
	if got, _, _ := b.variableValue(t.Context(), &run, field("status.podIP")); got != "192.0.2.7" {
		t.Errorf("on the node's network the pod's address is %q", got)
	}
}
