package admission

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// worlds is the number of worlds that are compared.
const worlds = 20_000

func TestAKubeletAnswersTheSame(t *testing.T) {
	t.Parallel()
	met, reasons, preempted := map[string]int{}, map[string]int{}, 0
	for seed := range uint64(worlds) {
		w := worldOf(seed)
		ids, known := compare(w, w)
		if !known {
			t.Fatalf("world %d: a kubelet says\n  %s\nand Wardlet\n  %s,\nwith static pods critical\n  %s\n%+v\n%+v", seed, theirs(w), ours(w, false), ours(w, true), w.node, w.pod)
		}
		for _, id := range ids {
			met[id]++
		}
		a := ours(w, false)
		reasons[a.reason]++
		if len(a.victims) > 0 {
			preempted++
		}
	}
	t.Logf("%d worlds; differences met: %v; answers: %v; %d with victims", worlds, met, reasons, preempted)
	for _, id := range differences {
		if met[id] == 0 {
			t.Errorf("the difference %s was never met", id)
		}
	}
	for _, reason := range []string{
		"", "OutOfpods", "OutOfcpu", "OutOfmemory", "OutOfephemeral-storage", "OutOf" + camera, "OutOf" + huge, "NodeAffinity", "NodeName", "NodePorts",
		"TaintToleration", "PodOSSelectorNodeLabelDoesNotMatch", "PodOSNotSupported", "SupplementalGroupsPolicyNotSupported",
	} {
		if reasons[reason] < 20 {
			t.Errorf("the reason %q was met %d times only", reason, reasons[reason])
		}
	}
	if preempted < 500 {
		t.Errorf("only %d times others gave way", preempted)
	}
}

// TestTheComparisonFindsFaults shows Wardlet another world than the kubelet, as if Wardlet ignored
// part of the world. The comparison must report a difference.
func TestTheComparisonFindsFaults(t *testing.T) {
	t.Parallel()
	each := func(f func(*v1.Container)) func(*world) {
		return func(w *world) {
			for _, p := range append(slices.Clone(w.others), w.pod) {
				for i := range p.Spec.Containers {
					f(&p.Spec.Containers[i])
				}
			}
		}
	}
	without := func(name v1.ResourceName) func(*world) {
		return each(func(c *v1.Container) { delete(c.Resources.Requests, name) })
	}
	for name, blind := range map[string]func(*world){
		"one of the others":       func(w *world) { w.others = w.others[:max(len(w.others)-1, 0)] },
		"the order of the others": func(w *world) { slices.Reverse(w.others) },
		"cpu":                     without(v1.ResourceCPU),
		"memory":                  without(v1.ResourceMemory),
		"storage":                 without(v1.ResourceEphemeralStorage),
		"extended resources":      without(camera),
		"huge pages":              without(huge),
		"addresses of ports": each(func(c *v1.Container) {
			for i := range c.Ports {
				c.Ports[i].HostIP = ""
			}
		}),
		"protocols of ports": each(func(c *v1.Container) {
			for i := range c.Ports {
				c.Ports[i].Protocol = ""
			}
		}),
		"classes of service": each(func(c *v1.Container) { c.Resources.Limits = nil }),
		"init containers":    func(w *world) { w.pod.Spec.InitContainers = nil },
		"sidecars of others": func(w *world) {
			for _, p := range w.others {
				p.Spec.InitContainers = nil
			}
		},
		"overhead": func(w *world) { w.pod.Spec.Overhead = nil },
		"resizes": func(w *world) {
			for _, p := range w.others {
				p.Status = v1.PodStatus{}
			}
		},
		"priority": func(w *world) { w.pod.Spec.Priority = nil },
		"priorities of others": func(w *world) {
			for _, p := range w.others {
				p.Spec.Priority = nil
			}
		},
		"who is static": func(w *world) {
			for _, p := range w.others {
				p.Annotations = nil
			}
		},
		"the name of the node":  func(w *world) { w.pod.Spec.NodeName = "" },
		"the selector":          func(w *world) { w.pod.Spec.NodeSelector = nil },
		"the affinity":          func(w *world) { w.pod.Spec.Affinity = nil },
		"taints":                func(w *world) { w.node.Spec.Taints = nil },
		"tolerations":           func(w *world) { w.pod.Spec.Tolerations = nil },
		"labels of the node":    func(w *world) { w.node.Labels = nil },
		"the operating system":  func(w *world) { w.pod.Spec.OS = nil },
		"a label of the system": func(w *world) { w.pod.Labels = nil },
		"policies of groups":    func(w *world) { w.pod.Spec.SecurityContext = nil },
		"features of the node":  func(w *world) { w.node.Status.Features = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(worlds) {
				seen := worldOf(seed)
				blind(seen)
				if _, known := compare(worldOf(seed), seen); !known {
					return
				}
			}
			t.Errorf("not found in %d worlds", worlds)
		})
	}
}

var row = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|")

func TestEveryDifferenceHasItsLine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Admission\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	if !slices.Equal(lines, differences) {
		t.Errorf("docs/differences.md lists under \"Admission\" %q, and the predicates are %q", lines, differences)
	}
}
