package eviction

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// podOf returns a pod from "NAMESPACE/NAME PRIORITY REQUEST USAGE", and its usage. REQUEST is of
// memory and of storage, - for none. USAGE is a number of GiB, ? for unknown.
func podOf(t *testing.T, text string) (*v1.Pod, Usage) {
	t.Helper()
	fields := strings.Fields(text)
	var priority int32
	if _, err := fmt.Sscan(fields[1], &priority); err != nil {
		t.Fatal(err)
	}
	namespace, name, _ := strings.Cut(fields[0], "/")
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}}
	p.Spec.Priority = &priority
	p.Spec.Containers = []v1.Container{{Name: "main"}}
	if fields[2] != "-" {
		amount := resource.MustParse(fields[2])
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceMemory: amount, v1.ResourceEphemeralStorage: amount}
	}
	var used float64
	if _, err := fmt.Sscan(fields[3], &used); err != nil {
		return p, Usage{Unknown: true}
	}
	return p, Usage{Total: int64(used * gib)}
}

func TestRank(t *testing.T) {
	t.Parallel()
	tenant := func(namespace string) string {
		if name, ok := strings.CutPrefix(namespace, "tenant-"); ok {
			return name
		}
		return ""
	}
	for name, test := range map[string]struct {
		resource v1.ResourceName
		tenant   func(string) string
		// pods are in the order in which they are evicted.
		pods []string
	}{
		"memory": {v1.ResourceMemory, nil, []string{
			"shop/unknown 9 5Gi ?", "shop/low 0 1Gi 2", "shop/most 5 1Gi 7", "shop/more 5 - 2", "shop/less 5 1Gi 2", "shop/high 9 - 9",
			"shop/within 0 4Gi 3", "shop/idle 0 4Gi 1", "shop/equal 1 1Gi 1",
		}},
		"disk":                          {v1.ResourceEphemeralStorage, nil, []string{"shop/unknown 9 - ?", "shop/over 3 1Gi 2", "shop/within 0 9Gi 2"}},
		"inodes cannot be requested":    {inodes, nil, []string{"shop/most 0 9Gi 3", "shop/less 0 - 2", "shop/high 1 - 9", "shop/none 0 - 0"}},
		"process IDs by priority first": {pids, nil, []string{"shop/unknown 0 - ?", "shop/most 0 9Gi 3", "shop/less 0 - 2", "shop/high 1 - 9"}},
		"tenants over their share first": {v1.ResourceMemory, tenant, []string{
			// a uses 4 of 3, so that also its pod within its request comes before others.
			"tenant-a/over 9 1Gi 3", "tenant-a/within 9 2Gi 1",
			// b uses 3 of 4.
			"shop/operator 0 - 9", "tenant-b/over 1 1Gi 2", "tenant-b/within 0 3Gi 1",
		}},
		"tenants are not told apart from others": {v1.ResourceMemory, nil, []string{
			"shop/operator 0 - 9", "tenant-b/over 1 1Gi 2", "tenant-a/over 9 1Gi 3", "tenant-a/within 0 2Gi 1",
		}},
		"the tenant with most process IDs pays":         {pids, tenant, []string{"tenant-a/any 0 - 1", "tenant-a/bomb 9 - 9", "shop/any 0 - 8", "tenant-b/any 0 - 5"}},
		"no tenant pays for the operator's process IDs": {pids, tenant, []string{"shop/bomb 0 - 9", "tenant-a/any 9 - 1"}},
		"no tenant pays for the operator's inodes":      {inodes, tenant, []string{"shop/most 0 - 9", "tenant-a/any 0 - 1"}},
		"equal pods by their names":                     {v1.ResourceMemory, nil, []string{"a/a 0 - 1", "a/b 0 - 1", "b/a 0 - 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pods []*v1.Pod
			usage := map[types.UID]Usage{}
			for i, text := range test.pods {
				p, u := podOf(t, text)
				p.UID = types.UID(strconv.Itoa(i))
				pods = append(pods, p)
				usage[p.UID] = u
			}
			rand.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			for i, p := range rank(pods, usage, test.resource, test.tenant) {
				if p.UID != types.UID(strconv.Itoa(i)) {
					t.Errorf("pod %d is %s/%s, want %s", i, p.Namespace, p.Name, test.pods[i])
				}
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	quantities := func(text string) v1.ResourceList {
		return v1.ResourceList{v1.ResourceMemory: resource.MustParse(text)}
	}
	p := &v1.Pod{}
	p.Spec.InitContainers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: quantities("3Gi")}}}
	p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: quantities("1Gi")}}, {Resources: v1.ResourceRequirements{Requests: quantities("1Gi")}}}
	p.Spec.Overhead = quantities("1Gi")
	if got := request(p, v1.ResourceMemory); got.String() != "4Gi" {
		t.Errorf("a pod with an init container and an overhead: %s", got)
	}
	p.Spec.Resources = &v1.ResourceRequirements{Requests: quantities("9Gi")}
	if got := request(p, v1.ResourceMemory); got.String() != "10Gi" {
		t.Errorf("a pod with resources of its own: %s", got)
	}
	if got := request(p, v1.ResourceEphemeralStorage); !got.IsZero() {
		t.Errorf("storage that is not requested: %s", got)
	}
	if got := request(&v1.Pod{Spec: v1.PodSpec{Overhead: quantities("1Gi")}}, v1.ResourceMemory); !got.IsZero() {
		t.Errorf("an overhead alone: %s", got)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	p, _ := podOf(t, "shop/web 0 1Gi 5")
	p.Spec.InitContainers = []v1.Container{{Name: "log", RestartPolicy: new(v1.ContainerRestartPolicyAlways)}}
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug"}}}
	u := Usage{Total: 5 * gib, Containers: map[string]int64{"main": 4 * gib, "log": 1 << 20, "debug": gib}}
	at := func(signal, value string) *threshold.Threshold {
		return &thresholds(t, threshold.Settings{Hard: map[string]string{signal: value}})[0]
	}
	for name, test := range map[string]struct {
		t    *threshold.Threshold
		o    Observation
		u    Usage
		want string
		// annotations are those of the containers, and of the pod.
		annotations []string
	}{
		"memory": {
			at("memory.available", "100Mi"),
			Observation{80 << 20, gib},
			u,
			"The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container log was using 1Mi, request is 0, has larger consumption of memory. " +
				"Container main was using 4Gi, request is 1Gi, has larger consumption of memory. ",
			[]string{"memory", "log,main", "1Mi,4Gi"},
		},
		"storage within the request": {
			at("nodefs.available", "10%"),
			Observation{0, 10 << 20},
			Usage{Containers: map[string]int64{"main": gib}},
			"The node was low on resource: ephemeral-storage. Threshold quantity: 1Mi, available: 0. ",
			[]string{"ephemeral-storage", "", ""},
		},
		"inodes": {
			at("imagefs.inodesFree", "5k"),
			Observation{4000, 10000},
			u,
			"The node was low on resource: inodes. Threshold quantity: 5k, available: 4k. ",
			[]string{"inodes", "", ""},
		},
		"unknown usage": {
			at("pid.available", "10%"),
			Observation{7, 1000},
			Usage{Unknown: true, Containers: u.Containers},
			"The node was low on resource: pids. Threshold quantity: 100, available: 7. ",
			nil,
		},
	} {
		got, annotations := message(p, test.t, test.o, test.u)
		if got != test.want {
			t.Errorf("%s: message\n%s\nwant\n%s", name, got, test.want)
		}
		var values []string
		if annotations != nil {
			values = []string{annotations["starved_resource"], annotations["offending_containers"], annotations["offending_containers_usage"]}
		}
		if !slices.Equal(values, test.annotations) {
			t.Errorf("%s: annotations %q, want %q", name, values, test.annotations)
		}
	}
	p.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceMemory: resource.MustParse("2Gi")}}
	want := "The node was low on resource: memory. Threshold quantity: 100Mi, available: 0. Pod web was using 5Gi, request is 2Gi, has larger consumption of memory. "
	got, annotations := message(p, at("memory.available", "100Mi"), Observation{}, Usage{Total: 5 * gib})
	if got != want || annotations["offending_pod"] != "web" || annotations["offending_pod_usage"] != "5Gi" {
		t.Errorf("pod with resources of its own: annotations %q, message\n%s\nwant\n%s", annotations, got, want)
	}
}
