package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestWhatANodeIsSaid(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, source+`[node]
labels = ["example.com/site=north", "empty="]
taints = ["example.com/off=yes:NoExecute", "bare:NoSchedule"]
extended_resources = ["example.com/camera=2"]
critical = ["shop/dns"]
max_pods = 20
static_pods_are_critical = true
system_reserved = ["cpu=500m", "memory=1Gi", "pid=100"]
kube_reserved = ["cpu=250m", "ephemeral-storage=1G", "pid=20"]
pod_pids_limit = 64
`), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"example.com/site": "north", "empty": ""}, c.Node.LabelMap()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	taints := []v1.Taint{
		{Key: "example.com/off", Value: "yes", Effect: v1.TaintEffectNoExecute}, {Key: "bare", Effect: v1.TaintEffectNoSchedule},
	}
	if diff := cmp.Diff(taints, c.Node.TaintList()); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(v1.ResourceList{"example.com/camera": resource.MustParse("2")}, c.Node.Extended()); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	reserved, pids := c.Node.Reserved()
	want := v1.ResourceList{"cpu": resource.MustParse("750m"), "memory": resource.MustParse("1Gi"), "ephemeral-storage": resource.MustParse("1G")}
	if diff := cmp.Diff(want, reserved); diff != "" || pids != 120 {
		t.Errorf("%d process IDs reserved, resources (-want +got):\n%s", pids, diff)
	}
	if got, byDefault := c.Node.PodPIDs(), Default().Node.PodPIDs(); got != 64 || byDefault != 0 {
		t.Errorf("processes of a pod: %d, without a file %d", got, byDefault)
	}
	if c.Node.MaxPods != 20 || !c.Node.StaticPodsAreCritical || Default().Node.MaxPods != 110 || Default().Node.StaticPodsAreCritical {
		t.Errorf("node %+v, without a file %+v", c.Node, Default().Node)
	}
}

func TestNodesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ key, want string }{
		"a label without a value":      {`labels = ["site"]`, `node.labels: want KEY=VALUE of a label, for example "example.com/site=north", found "site"`},
		"a label that is none":         {`labels = ["a b=c"]`, `node.labels: want KEY=VALUE of a label, for example "example.com/site=north", found "a b=c"`},
		"a label named twice":          {`labels = ["a=b", "a=c"]`, `node.labels: a is named twice`},
		"a label of the machine":       {`labels = ["kubernetes.io/os=plan9"]`, `node.labels: the label kubernetes.io/os is the machine's own; choose another key, found "kubernetes.io/os=plan9"`},
		"a taint without an effect":    {`taints = ["a=b"]`, `node.taints: want KEY=VALUE:EFFECT of a taint, for example "example.com/maintenance=yes:NoExecute", found "a=b"`},
		"a taint of an unknown effect": {`taints = ["a:Nothing"]`, `node.taints: want KEY=VALUE:EFFECT of a taint, for example "example.com/maintenance=yes:NoExecute", found "a:Nothing"`},
		"a taint named twice":          {`taints = ["a=b:NoExecute", "a=c:NoExecute"]`, `node.taints: a:NoExecute is named twice`},
		"a resource without a prefix":  {`extended_resources = ["cpu=2"]`, `node.extended_resources: want NAME=COUNT of a resource that is no Kubernetes one, for example "example.com/camera=2", found "cpu=2"`},
		"a resource of Kubernetes":     {`extended_resources = ["kubernetes.io/x=2"]`, `node.extended_resources: want NAME=COUNT`},
		"a resource without a count":   {`extended_resources = ["example.com/camera"]`, `node.extended_resources: want NAME=COUNT`},
		"less than none of a resource": {`extended_resources = ["example.com/camera=-1"]`, `node.extended_resources: want NAME=COUNT`},
		"a critical pod with no name":  {`critical = ["shop"]`, `node.critical: want NAMESPACE/NAME of a pod, for example "kube-system/dns", found "shop"`},
		"no pods":                      {`max_pods = 0`, `node.max_pods: want 1 to 10000, found 0`},
		"a reservation without one":    {`system_reserved = ["cpu"]`, `node.system_reserved: want NAME=QUANTITY of a resource, for example "memory=500Mi", found "cpu"`},
		"a reservation below zero":     {`kube_reserved = ["cpu=-1"]`, `node.kube_reserved: want NAME=QUANTITY of a resource, for example "memory=500Mi", found "cpu=-1"`},
		"a reservation of pods":        {`kube_reserved = ["pods=3"]`, `node.kube_reserved: pods cannot be reserved: want cpu, memory, ephemeral-storage or pid, found "pods=3"`},
		"a reservation named twice":    {`kube_reserved = ["pid=3", "pid=4"]`, `node.kube_reserved: pid is named twice`},
		"swap of an unknown kind":      {`swap_behavior = "UnlimitedSwap"`, `node.swap_behavior: want "NoSwap" or "LimitedSwap", found "UnlimitedSwap"`},
		"a throttling factor above 1":  {`memory_throttling_factor = 1.5`, `node.memory_throttling_factor: want more than 0, up to 1, or 0 for no limit, found 1.5`},
		"a throttling factor of none":  {`memory_throttling_factor = nan`, `node.memory_throttling_factor: want more than 0, up to 1, or 0 for no limit, found NaN`},
		"a reservation of no kind":     {`memory_reservation_policy = "All"`, `node.memory_reservation_policy: `},
		"pods without processes":       {`pod_pids_limit = 0`, `node.pod_pids_limit: want 1 or more processes, or -1 for no limit, found 0`},
		"too many pods":                {`max_pods = 10001`, `node.max_pods: want 1 to 10000, found 10001`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, source+"[node]\n"+test.key+"\n", "agent.toml:6: "+test.want)
		})
	}
}

func TestWhoMayHaveWhichPriorityIsBounded(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, tenantA+source), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Tenants[0].MaxPriority; got != 1_000_000_000 {
		t.Errorf("pods of a tenant may have priority %d, want the highest that is no system's", got)
	}
	refuses(t, tenantA+"max_priority = 2147483648\n"+source, "agent.toml:4: tenant.max_priority: want -2147483648 to 2147483647, found 2147483648\n")
}

// A node may set the same labels as a kubelet may: k8s.io/kubelet/pkg/apis/well_known_labels.go.
func TestNode_labelsInACluster(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"site=north", "example.com/site=north", "notkubernetes.io/a=b", "k8s.io.example.com/a=b",
		"topology.kubernetes.io/zone=a", "topology.kubernetes.io/region=a", "failure-domain.beta.kubernetes.io/zone=a", "failure-domain.beta.kubernetes.io/region=a",
		"node.kubernetes.io/instance-type=a", "beta.kubernetes.io/instance-type=a", "beta.kubernetes.io/os=linux", "beta.kubernetes.io/arch=arm64",
		"node.kubernetes.io/a=b", "kubelet.kubernetes.io/a=b", "a.node.kubernetes.io/a=b", "a.kubelet.kubernetes.io/a=b",
	} {
		if _, err := load(write(t, member+"[node]\nlabels = [\""+label+"\"]\n"), noEnv); err != nil {
			t.Errorf("%s: %v", label, err)
		}
	}
	for _, key := range []string{
		"node-role.kubernetes.io/worker", "node-restriction.kubernetes.io/a", "kubernetes.io/a", "k8s.io/a", "a.k8s.io/b", "topology.kubernetes.io/rack", "a.topology.kubernetes.io/zone",
	} {
		text := "[node]\nlabels = [\"site=north\",\n\"" + key + "=\"]\n"
		refuses(t, member+text, "agent.toml:5: node.labels: an API server lets no node give itself the label "+key+
			`; leave it out and set it there with "kubectl label node", or choose a key outside kubernetes.io and k8s.io, found "`+key+"=\"\n")
		if _, err := load(write(t, source+text), noEnv); err != nil {
			t.Errorf("without a cluster: %v", err)
		}
	}
}
