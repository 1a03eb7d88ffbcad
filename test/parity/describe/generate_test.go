package describe

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// words are the texts that generated pods consist of. As in real pods, no word has a character that
// ends a line or a column.
var words = []string{"", "a", "main", "web-1", "example.com/key", "two words", "limits.cpu", "requests.memory", "metadata.name", "v1", "müller", "x=y"}

// choices are the values of types with few values.
var choices = map[reflect.Type][]string{
	reflect.TypeFor[v1.TolerationOperator]():        {"", "Exists", "Equal"},
	reflect.TypeFor[v1.SeccompProfileType]():        {"Localhost", "RuntimeDefault"},
	reflect.TypeFor[v1.PodPhase]():                  {"Pending", "Running", "Succeeded", "Failed"},
	reflect.TypeFor[v1.URIScheme]():                 {"HTTP", "HTTPS"},
	reflect.TypeFor[metav1.LabelSelectorOperator](): {"In", "NotIn", "Exists", "DoesNotExist"},
}

// reword replaces every text of a named type in a value by one of its choices, or else by one of
// words. It does not look into maps.
func reword(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			reword(r, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			reword(r, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				reword(r, v.Field(i))
			}
		}
	case reflect.String:
		if of := choices[v.Type()]; of != nil {
			v.SetString(of[r.IntN(len(of))])
		} else if v.Type() != reflect.TypeFor[string]() {
			v.SetString(words[r.IntN(len(words))])
		}
	}
}

// filler fills values at random. Of alternatives that exclude each other it leaves at most one.
func filler(r *rand.Rand, now time.Time) *randfill.Filler {
	ago := func() metav1.Time { return metav1.NewTime(now.Add(-time.Duration(r.IntN(1<<20)) * time.Second)) }
	return randfill.NewWithSeed(r.Int64()).NilChance(0.4).NumElements(0, 4).MaxDepth(20).Funcs(
		func(s *string, _ randfill.Continue) { *s = words[r.IntN(len(words))] },
		func(t *metav1.Time, _ randfill.Continue) { *t = ago() },
		func(*metav1.MicroTime, randfill.Continue) {},
		func(q *resource.Quantity, _ randfill.Continue) {
			*q = *resource.NewMilliQuantity(r.Int64N(9)*500, resource.DecimalSI)
		},
		func(p *intstr.IntOrString, _ randfill.Continue) { *p = intstr.FromInt32(r.Int32N(9000)) },
		func(l *v1.ResourceList, _ randfill.Continue) {
			*l = v1.ResourceList{}
			for _, name := range []v1.ResourceName{"cpu", "memory", "hugepages-2Mi"} {
				if r.IntN(2) == 0 {
					(*l)[name] = *resource.NewMilliQuantity(r.Int64N(9)*500, resource.DecimalSI)
				}
			}
		},
		func(f *v1.ResourceFieldSelector, c randfill.Continue) {
			c.FillNoCustom(f)
			f.Resource = []string{"limits.cpu", "limits.memory", "requests.cpu", "requests.hugepages-2Mi", "limits.other", "other"}[r.IntN(6)]
		},
		func(s *v1.VolumeSource, c randfill.Continue) { c.FillNoCustom(s); oneOf(r, s) },
		func(s *v1.VolumeProjection, c randfill.Continue) { c.FillNoCustom(s); oneOf(r, s) },
		func(s *v1.EnvVarSource, c randfill.Continue) { c.FillNoCustom(s); oneOf(r, s) },
		func(s *v1.EnvFromSource, c randfill.Continue) { c.FillNoCustom(s); oneOf(r, s) },
		func(s *v1.ProbeHandler, c randfill.Continue) { c.FillNoCustom(s); oneOf(r, s) },
		func(s *v1.ContainerState, c randfill.Continue) { c.FillNoCustom(s); oneOf(r, s) },
		// kubectl reads the targets of these pointers without a check for nil.
		func(s *v1.GRPCAction, c randfill.Continue) { c.FillNoCustom(s); s.Service = new("health") },
		func(s *v1.SeccompProfile, c randfill.Continue) {
			c.FillNoCustom(s)
			s.LocalhostProfile = new("local.json")
		},
		func(s *v1.ServiceAccountTokenProjection, c randfill.Continue) {
			c.FillNoCustom(s)
			s.ExpirationSeconds = new(int64(3600))
		},
		func(s *v1.AzureDiskVolumeSource, c randfill.Continue) {
			c.FillNoCustom(s)
			s.Kind, s.FSType, s.CachingMode, s.ReadOnly = new(v1.AzureSharedBlobDisk), new("ext4"), new(v1.AzureDataDiskCachingNone), new(true)
		},
		func(s *v1.PodSchedulingGroup, c randfill.Continue) { c.FillNoCustom(s); s.PodGroupName = new("group") },
	)
}

// oneOf sets all pointers of a struct except one to nil.
func oneOf(r *rand.Rand, of any) {
	v := reflect.ValueOf(of).Elem()
	var set []int
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Pointer && !v.Field(i).IsNil() {
			set = append(set, i)
		}
	}
	r.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	for _, i := range set[min(1, len(set)):] {
		v.Field(i).SetZero()
	}
}

// anyPod is a pod of which every field may have any value.
func anyPod(r *rand.Rand, now time.Time) *v1.Pod {
	p := &v1.Pod{}
	filler(r, now).Fill(p)
	reword(r, reflect.ValueOf(p).Elem())
	if len(p.Annotations) > 0 && r.IntN(2) == 0 {
		p.Annotations["long"] = strings.Repeat("0123456789", 13+r.IntN(3))
		p.Annotations["lines"] = "one\ntwo\n"
		p.Annotations[v1.LastAppliedConfigAnnotation] = "{}"
	}
	if p.Spec.Resources != nil {
		p.Status.QOSClass = v1.PodQOSBurstable // Wardlet refuses pod-level resources
	}
	p.DeletionGracePeriodSeconds = new(int64(30))
	for i := range p.OwnerReferences {
		p.OwnerReferences[i].Controller = new(i == 0)
	}
	p.Spec.InitContainers = named(p.Spec.InitContainers, "init")
	p.Spec.Containers = named(p.Spec.Containers, "main")
	for i := range p.Spec.EphemeralContainers {
		p.Spec.EphemeralContainers[i].Name = fmt.Sprint("debug", i)
		p.Spec.EphemeralContainers[i].VolumeDevices = nil
	}
	for list, name := range map[*[]v1.ContainerStatus]string{
		&p.Status.InitContainerStatuses: "init", &p.Status.ContainerStatuses: "main", &p.Status.EphemeralContainerStatuses: "debug",
	} {
		for i := range *list {
			(*list)[i].Name = fmt.Sprint(name, i)
		}
	}
	return p
}

func named(containers []v1.Container, name string) []v1.Container {
	for i := range containers {
		c := &containers[i]
		c.Name = fmt.Sprint(name, i)
		if len(c.Command) > 0 {
			c.Command[0] = "if true\nthen"
		}
		if len(c.Env) > 0 && c.Env[0].ValueFrom == nil {
			c.Env[0].Value = "one\ntwo\n"
		}
		if len(c.VolumeMounts) == 0 {
			c.VolumeDevices = nil // a separate difference
		}
	}
	return containers
}

// likelyPod is a pod whose containers are in states that nodes report.
func likelyPod(r *rand.Rand, now time.Time) *v1.Pod {
	p := &v1.Pod{Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyAlways}}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	p.Status.Phase = v1.PodPhase(pick("Pending", "Running", "Running", "Succeeded", "Failed", "Unknown"))
	p.Status.Reason = pick("", "", "", "", "Evicted", "NodeLost", "DeadlineExceeded")
	if r.IntN(5) == 0 {
		p.DeletionTimestamp = new(metav1.NewTime(now))
	}
	for _, c := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.ContainersReady, v1.PodReady} {
		if r.IntN(3) > 0 {
			p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
				Type: c, Status: v1.ConditionStatus(pick("True", "False")), Reason: pick("", "", "", v1.PodReasonSchedulingGated),
			})
		}
	}
	state := func() (s v1.ContainerState) {
		switch r.IntN(4) {
		case 0:
			s.Waiting = &v1.ContainerStateWaiting{Reason: pick("", "PodInitializing", "ContainerCreating", "CrashLoopBackOff", "ImagePullBackOff")}
		case 1:
			s.Terminated = &v1.ContainerStateTerminated{
				Reason: pick("", "Completed", "Completed", "Error", "OOMKilled"), ExitCode: r.Int32N(3), Signal: r.Int32N(2) * 9,
				FinishedAt: metav1.NewTime(now.Add(-time.Duration(r.IntN(9000)) * time.Second)),
			}
		case 2:
			s.Running = &v1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}
		}
		return s
	}
	status := func(name string) v1.ContainerStatus {
		return v1.ContainerStatus{
			Name: name, Ready: r.IntN(2) == 0, Started: new(r.IntN(2) == 0), RestartCount: r.Int32N(3), State: state(), LastTerminationState: state(),
		}
	}
	for i := range r.IntN(4) {
		c := v1.Container{Name: fmt.Sprint("init", i)}
		if r.IntN(2) == 0 {
			c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status(c.Name))
	}
	for i := range 1 + r.IntN(3) {
		c := v1.Container{Name: fmt.Sprint("main", i)}
		p.Spec.Containers = append(p.Spec.Containers, c)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status(c.Name))
	}
	return p
}
