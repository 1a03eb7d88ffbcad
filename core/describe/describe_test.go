package describe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/api"
)

// describedPod returns a pod that has content for most sections.
func describedPod() *v1.Pod {
	p := webPod()
	p.Namespace, p.Labels = "shop", map[string]string{"app": "web", "tier": "front"}
	p.Annotations = map[string]string{"note": "one\ntwo\n", v1.LastAppliedConfigAnnotation: "{}"}
	p.Spec.Priority, p.Spec.NodeName, p.Spec.ServiceAccountName = new(int32(7)), "edge", "default"
	p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}, {Key: "a", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}}
	p.Spec.Volumes = []v1.Volume{
		{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{Medium: v1.StorageMediumMemory, SizeLimit: new(resource.MustParse("1Gi"))}}},
		{Name: "none"},
	}
	p.Status.HostIP, p.Status.PodIP, p.Status.PodIPs = "192.0.2.1", "10.0.0.7", []v1.PodIP{{IP: "10.0.0.7"}}
	p.Status.Message = "forged\nName: other\x1b[2J"
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionFalse}}
	c := &p.Spec.Containers[0]
	c.Image, c.Command, c.Args = "example.com/web:1", []string{"sh", "-c"}, []string{"a\nb"}
	c.Ports = []v1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}, {ContainerPort: 443, HostPort: 8443, Protocol: "TCP", Name: "https"}}
	c.Resources.Limits = v1.ResourceList{"memory": resource.MustParse("64Mi"), "cpu": resource.MustParse("500m")}
	c.Env = []v1.EnvVar{
		{Name: "A", Value: "1"},
		{Name: "CPU", ValueFrom: &v1.EnvVarSource{ResourceFieldRef: &v1.ResourceFieldSelector{Resource: "limits.cpu"}}},
		{Name: "KEY", ValueFrom: &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{Key: "k", LocalObjectReference: v1.LocalObjectReference{Name: "s"}}}},
	}
	c.VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/z", ReadOnly: true}, {Name: "data", MountPath: "/a", SubPath: "x"}}
	c.StartupProbe, c.LivenessProbe = nil, nil
	c.ReadinessProbe = &v1.Probe{PeriodSeconds: 10, ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Scheme: "HTTP", Port: intstr.FromInt32(80), Path: "/ready"}}}
	st := &p.Status.ContainerStatuses[0]
	st.LastTerminationState, st.RestartCount = terminated("Error", 1, 0), 2
	return p
}

const described = `Name:             web
Namespace:        shop
Priority:         7
Service Account:  default
Node:             edge/192.0.2.1
Labels:           app=web
                  tier=front
Annotations:      note:
                    one
                    two
Status:           Running
Message:          forged\nName: other\x1b[2J
IP:               10.0.0.7
IPs:
  IP:  10.0.0.7
Init Containers:
  setup:
    Container ID:   
    Image:          
    Image ID:       
    Port:           <none>
    Host Port:      <none>
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
      Started:      Mon, 01 Jan 0001 00:00:00 +0000
      Finished:     Mon, 01 Jan 0001 00:00:00 +0000
    Ready:          True
    Restart Count:  0
    Environment:    <none>
    Mounts:         <none>
  proxy:
    Container ID:   
    Image:          
    Image ID:       
    Port:           <none>
    Host Port:      <none>
    State:          Running
      Started:      Fri, 02 Jan 2026 11:00:00 +0000
    Ready:          True
    Restart Count:  0
    Readiness:      exec [] delay=0s timeout=0s period=0s #success=0 #failure=0
    Environment:    <none>
    Mounts:         <none>
Containers:
  main:
    Container ID:  
    Image:         example.com/web:1
    Image ID:      
    Ports:         80/TCP, 443/TCP (https)
    Host Ports:    0/TCP, 8443/TCP (https)
    Command:
      sh
      -c
    Args:
      a
      b
    State:          Running
      Started:      Fri, 02 Jan 2026 11:00:00 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    1
      Started:      Mon, 01 Jan 0001 00:00:00 +0000
      Finished:     Mon, 01 Jan 0001 00:00:00 +0000
    Ready:          True
    Restart Count:  2
    Limits:
      cpu:      500m
      memory:   64Mi
    Readiness:  http-get http://:80/ready delay=0s timeout=0s period=10s #success=0 #failure=0
    Environment:
      A:    1
      CPU:  1 (limits.cpu)
      KEY:  <set to the key 'k' in secret 's'>  Optional: false
    Mounts:
      /a from data (rw,path="x")
      /z from data (ro)
Conditions:
  Type    Status
  Ready   False 
Volumes:
  data:
    Type:       EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:     Memory
    SizeLimit:  1Gi
  none:
  <unknown>
QoS Class:       Burstable
Node-Selectors:  <none>
Tolerations:     op=Exists
                 a:NoExecute op=Exists for 300s
Wardlet:
  Source:  static
Events:
  Type     Reason     Age               From     Message
  ----     ------     ----              ----     -------
  Normal   Started    60m               wardlet  spec.containers{main}: Started container main
  Warning  Unhealthy  10s (x3 over 5m)  wardlet  no\tgood
`

func TestPod_asKubectlPrints(t *testing.T) {
	t.Parallel()
	c := &Context{
		Facts: []Fact{{"Source", "static"}}, Now: noon,
		Events: []api.Event{
			{Type: "Warning", Reason: "Unhealthy", Message: "no\tgood\n", Count: 3, First: noon.Add(-5 * time.Minute), Last: noon.Add(-10 * time.Second)},
			{Type: "Normal", Reason: "Started", Message: "Started container main", FieldPath: "spec.containers{main}", Count: 1, First: noon.Add(-time.Hour), Last: noon.Add(-time.Hour)},
		},
	}
	var b strings.Builder
	if err := Pod(&b, describedPod(), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(described, "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
}

func TestPod_eventsAreLeftOutWhereTheyAreHidden(t *testing.T) {
	t.Parallel()
	for hide, want := range map[bool]bool{true: false, false: true} {
		var b strings.Builder
		if err := Pod(&b, &v1.Pod{}, &Context{HideEvents: hide}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "Events:"); got != want {
			t.Errorf("with HideEvents %t the section is there: %t", hide, got)
		}
	}
}

func TestPod_missingValuesOfAPodThatEnds(t *testing.T) {
	t.Parallel()
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.NewTime(noon.Add(-20 * time.Second)))}}
	p.Spec.Containers = []v1.Container{{Name: "a", LivenessProbe: &v1.Probe{ProbeHandler: v1.ProbeHandler{GRPC: &v1.GRPCAction{Port: 9}}}}}
	p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: &v1.SeccompProfile{Type: v1.SeccompProfileTypeLocalhost}}
	var b strings.Builder
	if err := Pod(&b, p, &Context{Now: noon}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Terminating (lasts 20s)\n", "LocalhostProfile:  \n", "grpc <pod>:9  delay=0s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}
