package criconfig

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestMemoryQoS(t *testing.T) {
	t.Parallel()
	node := &v1.Node{Status: v1.NodeStatus{Allocatable: quantities("", "1Gi")}}
	for name, test := range map[string]struct {
		qos              MemoryQoS
		requests, limits v1.ResourceList
		want             map[string]string
	}{
		"off":                             {MemoryQoS{}, quantities("", "100Mi"), quantities("", "200Mi"), nil},
		"between request and limit":       {MemoryQoS{ThrottlingFactor: 0.5}, quantities("", "100Mi"), quantities("", "200Mi"), map[string]string{"memory.high": "157286400"}},
		"rounded down to a page":          {MemoryQoS{ThrottlingFactor: 0.9}, quantities("", "1000"), quantities("", "20000"), map[string]string{"memory.high": "16384"}},
		"without a limit":                 {MemoryQoS{ThrottlingFactor: 0.5}, quantities("", "512Mi"), nil, map[string]string{"memory.high": "805306368"}},
		"without request and limit":       {MemoryQoS{ThrottlingFactor: 0.5}, nil, nil, nil},
		"of a limit that is the request":  {MemoryQoS{ThrottlingFactor: 0.5}, quantities("", "200Mi"), quantities("", "200Mi"), nil},
		"less than a page":                {MemoryQoS{ThrottlingFactor: 0.5}, quantities("", "4096"), quantities("", "4100"), nil},
		"reserved for a burstable pod":    {MemoryQoS{Reserve: true}, quantities("", "100Mi"), nil, map[string]string{"memory.low": "104857600"}},
		"reserved for a guaranteed pod":   {MemoryQoS{Reserve: true, ThrottlingFactor: 0.9}, quantities("1", "100Mi"), quantities("1", "100Mi"), map[string]string{"memory.min": "104857600"}},
		"reserved for one that asks none": {MemoryQoS{Reserve: true}, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: test.requests, Limits: test.limits}}}}}
			b := New(Config{Node: func() *v1.Node { return node }, MemoryQoS: test.qos}, nil)
			mustEqual(t, "unified", test.want, b.containerResources(p, &p.Spec.Containers[0]).Unified)
		})
	}
}
