package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// edge returns a node of 2 CPUs, 4 GiB of memory, 10 GiB of storage, 5 pods and 2 cameras.
func edge() *v1.Node {
	n := &v1.Node{}
	n.Name, n.Labels = "edge", map[string]string{v1.LabelOSStable: "linux", "site": "north"}
	n.Status.Allocatable = list("cpu", "2", "memory", "4Gi", "ephemeral-storage", "10Gi", "pods", "5", "example.com/camera", "2")
	return n
}

// list returns a list of resources from pairs of name and quantity.
func list(pairs ...string) v1.ResourceList {
	l := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// asks returns a pod that requests resources, from pairs of name and quantity.
func asks(uid types.UID, pairs ...string) *v1.Pod {
	p := newPod(uid)
	p.Spec.Containers[0].Resources.Requests = list(pairs...)
	return p
}

// with changes a pod and returns it.
func with(p *v1.Pod, change func(*v1.Pod)) *v1.Pod {
	change(p)
	return p
}

func static(p *v1.Pod) { p.Annotations = map[string]string{pod.AnnotationSource: "file"} }

func priority(n int32) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.Priority = &n } }

func port(number int32, ip string, protocol v1.Protocol) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, v1.ContainerPort{HostPort: number, HostIP: ip, Protocol: protocol})
	}
}

func fit(n *v1.Node) Fit { return Fit{Node: func() *v1.Node { return n }} }

func refusal(reason, message string) Result { return Result{Reason: reason, Message: message} }

func outOf(resource, requested, used, capacity string) Result {
	return refusal("OutOf"+resource, "Node didn't have enough resource: "+resource+", requested: "+requested+", used: "+used+", capacity: "+capacity)
}

var (
	yes        = Result{Admitted: true}
	elsewhere  = refusal("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector")
	otherNode  = refusal("NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name")
	portTaken  = refusal("NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports")
	untolerant = refusal("TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate")
)

func TestRoomForAPod(t *testing.T) {
	t.Parallel()
	five := []*v1.Pod{newPod("1"), newPod("2"), newPod("3"), newPod("4"), newPod("5")}
	init := func(always bool, pairs ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			c := v1.Container{Name: "i"}
			c.Resources.Requests = list(pairs...)
			if always {
				c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	for name, test := range map[string]struct {
		pod            *v1.Pod
		others, ending []*v1.Pod
		want           Result
	}{
		"a pod that asks for nothing":                 {asks("p"), nil, nil, yes},
		"all that there is":                           {asks("p", "cpu", "2", "memory", "4Gi", "ephemeral-storage", "10Gi", "example.com/camera", "2"), nil, nil, yes},
		"the rest":                                    {asks("p", "cpu", "500m"), []*v1.Pod{asks("1", "cpu", "1500m")}, nil, yes},
		"more cpu than is left, in thousandths":       {asks("p", "cpu", "501m"), []*v1.Pod{asks("1", "cpu", "1500m")}, nil, outOf("cpu", "501", "1500", "2000")},
		"more memory than there is":                   {asks("p", "memory", "5Gi"), nil, nil, outOf("memory", "5368709120", "0", "4294967296")},
		"more storage than is left":                   {asks("p", "ephemeral-storage", "1"), []*v1.Pod{asks("1", "ephemeral-storage", "10Gi")}, nil, outOf("ephemeral-storage", "1", "10737418240", "10737418240")},
		"more cameras than are left":                  {asks("p", "example.com/camera", "1"), []*v1.Pod{asks("1", "example.com/camera", "2")}, nil, outOf("example.com/camera", "1", "2", "2")},
		"what the node does not know is not counted":  {asks("p", "example.com/other", "7"), nil, nil, yes},
		"huge pages are, also where there are none":   {asks("p", "hugepages-2Mi", "2Mi"), nil, nil, outOf("hugepages-2Mi", "2097152", "0", "0")},
		"a sixth pod of five":                         {asks("p"), five, nil, outOf("pods", "1", "5", "5")},
		"pods before resources":                       {asks("p", "memory", "5Gi"), five, nil, outOf("pods", "1", "5", "5")},
		"cpu before memory":                           {asks("p", "memory", "5Gi", "cpu", "3"), nil, nil, outOf("cpu", "3000", "0", "2000")},
		"what is being ended still has what it had":   {asks("p", "cpu", "1"), nil, []*v1.Pod{asks("1", "cpu", "2")}, outOf("cpu", "1000", "2000", "2000")},
		"an init container counts where it is larger": {with(asks("p", "cpu", "1"), init(false, "cpu", "3")), nil, nil, outOf("cpu", "3000", "0", "2000")},
		"and not where it is smaller":                 {with(asks("p", "cpu", "1"), init(false, "cpu", "2")), nil, nil, yes},
		"a sidecar comes on top":                      {with(asks("p", "cpu", "1"), init(true, "cpu", "1001m")), nil, nil, outOf("cpu", "2001", "0", "2000")},
		"and so does an overhead": {
			with(asks("p", "cpu", "2"), func(p *v1.Pod) { p.Spec.Overhead = list("cpu", "1m") }), nil, nil, outOf("cpu", "2001", "0", "2000"),
		},
		"limits do not count": {
			with(asks("p"), func(p *v1.Pod) { p.Spec.Containers[0].Resources.Limits = list("cpu", "3") }), nil, nil, yes,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := test.pod.DeepCopy()
			if diff := cmp.Diff(test.want, fit(edge()).Admit(&Attributes{Pod: test.pod, Others: test.others, Ending: test.ending})); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("the pod was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestTheNodeIsTheRightOne(t *testing.T) {
	t.Parallel()
	selector := func(key, value string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
	}
	affinity := func(key string, op v1.NodeSelectorOperator, values ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
				NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}},
			}}}
		}
	}
	tolerates := func(key string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Tolerations = []v1.Toleration{{Key: key, Operator: v1.TolerationOpExists}}
		}
	}
	named := func(name string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = name } }
	labelled := func(os string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Labels = map[string]string{v1.LabelOSStable: os} }
	}
	for name, test := range map[string]struct {
		change func(*v1.Pod)
		taint  v1.TaintEffect
		want   Result
	}{
		"by its name":                           {named("edge"), "", yes},
		"not by another name":                   {named("other"), "", otherNode},
		"by a selector":                         {selector("site", "north"), "", yes},
		"not by a selector that names another":  {selector("site", "south"), "", elsewhere},
		"by its affinity":                       {affinity("site", v1.NodeSelectorOpIn, "south", "north"), "", yes},
		"not by an affinity to others":          {affinity("site", v1.NodeSelectorOpNotIn, "north"), "", elsewhere},
		"not by an affinity that means nothing": {affinity("site", "Like", "north"), "", elsewhere},
		"affinity is told before the name":      {func(p *v1.Pod) { selector("a", "b")(p); named("other")(p) }, "", elsewhere},
		"not with a taint that expels":          {nil, v1.TaintEffectNoExecute, untolerant},
		"but where the pod tolerates that":      {tolerates("off"), v1.TaintEffectNoExecute, yes},
		"not where it tolerates another":        {tolerates("on"), v1.TaintEffectNoExecute, untolerant},
		"with a taint for schedulers":           {nil, v1.TaintEffectNoSchedule, yes},
		"whatever its taints, for a static pod": {static, v1.TaintEffectNoExecute, yes},
		"by a label that names its system":      {labelled("linux"), "", yes},
		"not by a label that names another":     {labelled("windows"), "", refusal("PodOSSelectorNodeLabelDoesNotMatch", "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label")},
		"not for another system":                {func(p *v1.Pod) { p.Spec.OS = &v1.PodOS{Name: v1.Windows} }, "", refusal("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")},
		"for its own":                           {func(p *v1.Pod) { p.Spec.OS = &v1.PodOS{Name: v1.Linux} }, "", yes},
		"not for groups that it cannot restrict": {func(p *v1.Pod) {
			p.Spec.SecurityContext = &v1.PodSecurityContext{SupplementalGroupsPolicy: new(v1.SupplementalGroupsPolicyStrict)}
		}, "", refusal("SupplementalGroupsPolicyNotSupported", "SupplementalGroupsPolicy=Strict is not supported in this node")},
		"for groups as they are": {func(p *v1.Pod) {
			p.Spec.SecurityContext = &v1.PodSecurityContext{SupplementalGroupsPolicy: new(v1.SupplementalGroupsPolicyMerge)}
		}, "", yes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, p := edge(), newPod("p")
			if test.change != nil {
				test.change(p)
			}
			if test.taint != "" {
				n.Spec.Taints = []v1.Taint{{Key: "off", Effect: test.taint}}
			}
			if diff := cmp.Diff(test.want, fit(n).Admit(&Attributes{Pod: p})); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANodeIsOfThisSystemWhateverItsLabelSays(t *testing.T) {
	t.Parallel()
	n := edge()
	n.Labels[v1.LabelOSStable] = "windows"
	p := with(newPod("p"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelOSStable: "linux"} })
	if got := fit(n).Admit(&Attributes{Pod: p}); got != yes {
		t.Errorf("answer %+v", got)
	}
	if n.Labels[v1.LabelOSStable] != "windows" {
		t.Error("the node was changed")
	}
}

func TestPortsOfTheNode(t *testing.T) {
	t.Parallel()
	sidecar := func(always bool) func(*v1.Pod) {
		return func(p *v1.Pod) {
			c := v1.Container{Name: "i", Ports: []v1.ContainerPort{{HostPort: 80}}}
			if always {
				c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
			p.Spec.InitContainers = []v1.Container{c}
		}
	}
	for name, test := range map[string]struct {
		has, wants func(*v1.Pod)
		want       Result
	}{
		"one that another pod has is taken":               {port(80, "", ""), port(80, "", v1.ProtocolTCP), portTaken},
		"another number is free":                          {port(80, "", ""), port(81, "", ""), yes},
		"another protocol is free":                        {port(80, "", ""), port(80, "", v1.ProtocolUDP), yes},
		"another address is free":                         {port(80, "127.0.0.1", ""), port(80, "127.0.0.2", ""), yes},
		"the same address is taken":                       {port(80, "127.0.0.1", ""), port(80, "127.0.0.1", ""), portTaken},
		"who has it on all addresses has it on each":      {port(80, "0.0.0.0", ""), port(80, "127.0.0.1", ""), portTaken},
		"who wants it on all addresses wants it on each":  {port(80, "127.0.0.1", ""), port(80, "", ""), portTaken},
		"a port of the pod's own network is no port here": {port(0, "", ""), port(0, "", ""), yes},
		"that of a sidecar is taken":                      {sidecar(true), port(80, "", ""), portTaken},
		"that of an init container that ends is not":      {sidecar(false), port(80, "", ""), yes},
		"and wants none itself":                           {port(80, "", ""), sidecar(false), yes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			has, wants := with(newPod("1"), test.has), with(newPod("p"), test.wants)
			for _, a := range []*Attributes{{Pod: wants, Others: []*v1.Pod{has}}, {Pod: wants, Ending: []*v1.Pod{has}}} {
				if diff := cmp.Diff(test.want, fit(edge()).Admit(a)); diff != "" {
					t.Errorf("beside %d, %d ending: answer (-want +got):\n%s", len(a.Others), len(a.Ending), diff)
				}
			}
		})
	}
}

func TestTheHighestPriorityOfATenant(t *testing.T) {
	t.Parallel()
	h := Priorities{Tenant: func(namespace string) (string, int32, bool) { return "a", 1000, namespace == "shop" }}
	for name, test := range map[string]struct {
		change func(*v1.Pod)
		want   Result
	}{
		"holds for its pods":                  {priority(1001), refusal("PriorityTooHigh", "spec.priority is 1001, and pods of tenant a may have 1000 at most")},
		"is a priority they may say":          {priority(1000), yes},
		"is no matter for pods that say none": {func(*v1.Pod) {}, yes},
		"does not hold for others":            {func(p *v1.Pod) { priority(1001)(p); p.Namespace = "default" }, yes},
	} {
		if got := h.Admit(&Attributes{Pod: with(newPod("p"), test.change)}); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	h.Tenant = func(string) (string, int32, bool) { return "a", -10, true }
	want := refusal("PriorityTooHigh", "spec.priority is 0, and pods of tenant a may have -10 at most")
	if got := h.Admit(&Attributes{Pod: newPod("p")}); got != want {
		t.Errorf("without one, where 0 is too high: %+v, want %+v", got, want)
	}
}
