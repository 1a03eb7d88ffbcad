package admission

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestPressure_Admit(t *testing.T) {
	t.Parallel()
	const memory, disk, ids = v1.NodeMemoryPressure, v1.NodeDiskPressure, v1.NodePIDPressure
	tolerant := func(key string, effect v1.TaintEffect) *v1.Pod {
		return with(newPod("t"), func(p *v1.Pod) {
			p.Spec.Tolerations = []v1.Toleration{{Key: key, Operator: v1.TolerationOpExists, Effect: effect}}
		})
	}
	bestEffort, burstable := newPod("b"), asks("r", "memory", "1Gi")
	critical := with(newPod("c"), priority(2_000_000_000))
	only := func(types ...v1.NodeConditionType) []v1.NodeConditionType { return types }
	had := func(which string) Result {
		return refusal("Evicted", "The node had condition: ["+which+"]. ")
	}
	for name, test := range map[string]struct {
		conditions []v1.NodeConditionType
		pod        *v1.Pod
		want       Result
	}{
		"no pressure":                             {nil, bestEffort, yes},
		"best-effort without memory":              {only(memory), bestEffort, had("MemoryPressure")},
		"burstable without memory":                {only(memory), burstable, yes},
		"a toleration of memory pressure":         {only(memory), tolerant(v1.TaintNodeMemoryPressure, v1.TaintEffectNoSchedule), yes},
		"a toleration of every effect":            {only(memory), tolerant(v1.TaintNodeMemoryPressure, ""), yes},
		"a toleration of everything":              {only(memory), tolerant("", ""), yes},
		"a toleration of another effect":          {only(memory), tolerant(v1.TaintNodeMemoryPressure, v1.TaintEffectNoExecute), had("MemoryPressure")},
		"a toleration of another pressure":        {only(memory), tolerant(v1.TaintNodeDiskPressure, ""), had("MemoryPressure")},
		"best-effort without disk":                {only(disk), bestEffort, had("DiskPressure")},
		"burstable without disk":                  {only(disk), burstable, had("DiskPressure")},
		"a toleration does not help without disk": {only(disk), tolerant("", ""), had("DiskPressure")},
		"burstable without process IDs":           {only(ids), burstable, had("PIDPressure")},
		"burstable without memory and disk":       {only(disk, memory), burstable, had("DiskPressure MemoryPressure")},
		"a critical pod without memory":           {only(memory), critical, yes},
		"a critical pod without anything":         {only(disk, memory, ids), critical, yes},
		"a static pod is not critical":            {only(disk), with(newPod("s"), static), had("DiskPressure")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Pressure{Conditions: func() []v1.NodeConditionType { return test.conditions }}
			if got := h.Admit(&Attributes{Pod: test.pod}); got != test.want {
				t.Errorf("Admit = %+v, want %+v", got, test.want)
			}
		})
	}
	h := Pressure{Conditions: func() []v1.NodeConditionType { return only(disk) }, Critical: pod.Criticality{Static: true}}
	if got := h.Admit(&Attributes{Pod: with(newPod("s"), static)}); got != yes {
		t.Errorf("a static pod where it is critical: %+v", got)
	}
}
