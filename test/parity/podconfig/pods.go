package main

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/pod"
)

// makePods returns n pods as an API server returns them: two containers, twelve variables, three
// volumes, probes and a status, about 4 KB of JSON each.
func makePods(n int) []*v1.Pod {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		pods[i] = makePod(i)
	}
	return pods
}

func makePod(i int) *v1.Pod {
	n := strconv.Itoa(i)
	begun := metav1.Unix(1_760_000_000, 0)
	grace := int64(30)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "workload-" + n, Namespace: "team-" + strconv.Itoa(i%20), UID: types.UID("00000000-0000-4000-8000-" + n),
			ResourceVersion: n, CreationTimestamp: begun,
			Labels:      map[string]string{"app": "workload", "tier": "backend", "pod-template-hash": "5d9c7b8f6" + n},
			Annotations: map[string]string{"prometheus.io/scrape": "true", pod.AnnotationSource: pod.SourceAPI},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "workload-5d9c7b8f6", UID: types.UID("owner-" + n),
			}},
		},
		Spec: v1.PodSpec{
			NodeName: "node", RestartPolicy: v1.RestartPolicyAlways, DNSPolicy: v1.DNSClusterFirst,
			ServiceAccountName: "default", SchedulerName: "default-scheduler", TerminationGracePeriodSeconds: &grace,
			Tolerations: []v1.Toleration{
				{Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute},
				{Key: v1.TaintNodeUnreachable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute},
			},
		},
		Status: v1.PodStatus{
			Phase: v1.PodRunning, PodIP: "10.0.0.1", HostIP: "192.0.2.1", StartTime: &begun, QOSClass: v1.PodQOSBurstable,
		},
	}
	for _, name := range []string{"config", "cache", "log"} {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{
			Name: name, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}},
		})
	}
	for _, name := range []string{"main", "sidecar"} {
		p.Spec.Containers = append(p.Spec.Containers, makeContainer(name, n))
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, v1.ContainerStatus{
			Name: name, Ready: true, Image: "registry.example/" + name + ":1", ContainerID: "containerd://" + name + n,
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: begun}},
		})
	}
	for _, kind := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.ContainersReady, v1.PodReady} {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
			Type: kind, Status: v1.ConditionTrue, LastTransitionTime: begun,
		})
	}
	return p
}

func makeContainer(name, n string) v1.Container {
	c := v1.Container{
		Name: name, Image: "registry.example/" + name + ":1", Args: []string{"serve", "--id=" + n},
		ImagePullPolicy: v1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log",
		Ports: []v1.ContainerPort{{Name: "web", ContainerPort: 8080, Protocol: v1.ProtocolTCP}},
		Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   v1.ResourceList{v1.ResourceMemory: resource.MustParse("128Mi")},
		},
		LivenessProbe: &v1.Probe{
			ProbeHandler:  v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}},
			PeriodSeconds: 10, TimeoutSeconds: 1, FailureThreshold: 3, SuccessThreshold: 1,
		},
	}
	for i := range 6 {
		c.Env = append(c.Env, v1.EnvVar{Name: "SETTING_" + strconv.Itoa(i), Value: "value of " + n})
	}
	for _, volume := range []string{"config", "cache", "log"} {
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: volume, MountPath: "/var/" + volume})
	}
	return c
}

// changed returns a new version of a pod with another image.
func changed(p *v1.Pod, version int) *v1.Pod {
	p = p.DeepCopy()
	p.ResourceVersion = strconv.Itoa(1_000_000 + version)
	p.Spec.Containers[0].Image = "registry.example/main:v" + strconv.Itoa(version)
	return p
}
