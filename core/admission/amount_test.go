package admission

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// several returns a pod of n containers that each request quantity of one resource.
func several(n int, name v1.ResourceName, quantity string) *v1.Pod {
	p := asks("p", string(name), quantity)
	for len(p.Spec.Containers) < n {
		p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers[0])
	}
	return p
}

func TestAPodThatAsksForMoreThanCanBeCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       v1.ResourceName
		quantity   string
		containers int
	}{
		{"cpu", "5e15", 4},
		{"cpu", "9e15", 1},
		{"cpu", "9e16", 1},
		{"cpu", "9.3e15", 1},
		{"cpu", "5e18", 1},
		{"cpu", "9e18", 2},
		{"cpu", "1e19", 1},
		{"cpu", "1e30", 1},
		{"cpu", "18446744073709548", 1},
		{"cpu", "1E", 20},
		{"memory", "6Ei", 2},
		{"memory", "4Ei", 4},
		{"memory", "8Ei", 2},
		{"memory", "1e30", 1},
		{"example.com/camera", "9223372036854775807", 3},
	} {
		greedy := several(test.containers, test.name, test.quantity)
		if got := fit(edge()).Admit(&Attributes{Pod: greedy}); got.Admitted || got.Reason != "OutOf"+string(test.name) {
			t.Errorf("%d containers of %s %s: %+v", test.containers, test.quantity, test.name, got)
		}
		others := []*v1.Pod{greedy, asks("1", string(test.name), "1"), greedy}
		if got := fit(edge()).Admit(&Attributes{Pod: asks("2", string(test.name), "1"), Others: others}); got.Admitted {
			t.Errorf("beside %d containers of %s %s there is room", test.containers, test.quantity, test.name)
		}
		critical := with(several(test.containers, test.name, test.quantity), priority(2_000_000_000))
		if got := fit(edge()).Admit(&Attributes{Pod: critical, Others: []*v1.Pod{asks("1", string(test.name), "1")}}); got.Admitted {
			t.Errorf("others end for %d containers of %s %s", test.containers, test.quantity, test.name)
		}
		if got := fit(edge()).Admit(&Attributes{Pod: critical, Others: []*v1.Pod{greedy}}); got.Admitted {
			t.Errorf("one gives way to another with %d containers of %s %s", test.containers, test.quantity, test.name)
		}
		lesser := with(asks("2", string(test.name), "1"), priority(2_000_000_000))
		if got := fit(edge()).Admit(&Attributes{Pod: lesser, Others: []*v1.Pod{greedy}}); got.Preemption == nil || len(got.Preemption.Victims) != 1 {
			t.Errorf("%d containers of %s %s do not give way: %+v", test.containers, test.quantity, test.name, got)
		}
	}
}

func FuzzWhatIsUsedIsNeverLessThanAnyPart(f *testing.F) {
	for _, seed := range [][2]string{{"1", "2"}, {"1e30", "1n"}, {"6Ei", "6Ei"}, {"18446744073709548", "9e16"}, {"-5", "3"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(first) > 40 || len(second) > 40 {
			return // the parser reads no text as long as this
		}
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
			var users []*v1.Pod
			for _, text := range []string{first, second, first} {
				q, err := resource.ParseQuantity(text)
				if err != nil {
					return // not a quantity
				}
				p := newPod("p")
				p.Spec.Containers[0].Resources.Requests = v1.ResourceList{name: q}
				users = append(users, p)
			}
			all := usedBy(users)[name]
			for _, part := range users {
				if one := usedBy([]*v1.Pod{part})[name]; one < 0 || one > all {
					t.Errorf("%s of %s, %s and %s again: used %d, and one of them %d", name, first, second, first, all, one)
				}
			}
		}
	})
}
