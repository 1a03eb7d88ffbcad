package policytest

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Secret is a text that must not be shown.
const Secret = "hunter2"

// Secretive returns a change that adds the secret to a pod, in the place called where: a
// field that people keep secrets in.
func Secretive(where string) func(*v1.Pod) {
	c := func() v1.Container { return v1.Container{Name: "c", Image: "i"} }
	in := func(change func(*v1.Container)) func(*v1.Pod) {
		return func(p *v1.Pod) { change(&p.Spec.Containers[0]) }
	}
	exec := &v1.ExecAction{Command: []string{"check", Secret}}
	get := &v1.HTTPGetAction{HTTPHeaders: []v1.HTTPHeader{{Name: "Authorization", Value: Secret}}}
	query := &v1.HTTPGetAction{Path: "/healthz?token=" + Secret}
	volume := func(source v1.VolumeSource) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: source}} }
	}
	windows := &v1.WindowsSecurityContextOptions{GMSACredentialSpec: new(Secret)}
	return map[string]func(*v1.Pod){
		"env":     in(func(c *v1.Container) { c.Env = []v1.EnvVar{{Name: "PASSWORD", Value: Secret}} }),
		"command": in(func(c *v1.Container) { c.Command = []string{"sh", "-c", "login " + Secret} }),
		"args":    in(func(c *v1.Container) { c.Args = []string{Secret} }),
		"liveness": in(func(c *v1.Container) {
			c.LivenessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: exec}}
		}),
		"readiness": in(func(c *v1.Container) {
			c.ReadinessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: get}}
		}),
		"startup":   in(func(c *v1.Container) { c.StartupProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: exec}} }),
		"postStart": in(func(c *v1.Container) { c.Lifecycle = &v1.Lifecycle{PostStart: &v1.LifecycleHandler{Exec: exec}} }),
		"preStop":   in(func(c *v1.Container) { c.Lifecycle = &v1.Lifecycle{PreStop: &v1.LifecycleHandler{HTTPGet: get}} }),
		"init": func(p *v1.Pod) {
			x := c()
			x.Args = []string{Secret}
			p.Spec.InitContainers = []v1.Container{x}
		},
		"ephemeral": func(p *v1.Pod) {
			x := c()
			x.Args = []string{Secret}
			p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon(x)}}
		},
		"annotation": func(p *v1.Pod) { p.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = Secret },
		"an annotation that begins like the source": func(p *v1.Pod) { p.Annotations[pod.AnnotationSource+"-token"] = Secret },
		"an annotation that begins like seccomp's":  func(p *v1.Pod) { p.Annotations["seccomp.security.alpha.kubernetes.io/pod-token"] = Secret },
		"csi":  volume(v1.VolumeSource{CSI: &v1.CSIVolumeSource{VolumeAttributes: map[string]string{"key": Secret}}}),
		"flex": volume(v1.VolumeSource{FlexVolume: &v1.FlexVolumeSource{Options: map[string]string{"key": Secret}}}),
		"claim": volume(v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{
				Annotations:   map[string]string{pod.AnnotationSource: Secret},
				ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(`{"v:` + Secret + `":{}}`)}},
			},
		}}}),
		"certificate": volume(v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{{
			PodCertificate: &v1.PodCertificateProjection{UserAnnotations: map[string]string{"key": Secret}},
		}}}}),
		"git":                volume(v1.VolumeSource{GitRepo: &v1.GitRepoVolumeSource{Repository: "https://ana:" + Secret + "@git.example/shop"}}),
		"disk":               volume(v1.VolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DataDiskURI: "https://disks.example/web.vhd?sig=" + Secret}}),
		"gateway":            volume(v1.VolumeSource{ScaleIO: &v1.ScaleIOVolumeSource{Gateway: "https://ana:" + Secret + "@gateway.example/api"}}),
		"liveness query":     in(func(c *v1.Container) { c.LivenessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: query}} }),
		"postStart query":    in(func(c *v1.Container) { c.Lifecycle = &v1.Lifecycle{PostStart: &v1.LifecycleHandler{HTTPGet: query}} }),
		"windows":            in(func(c *v1.Container) { c.SecurityContext = &v1.SecurityContext{WindowsOptions: windows} }),
		"windows of the pod": func(p *v1.Pod) { p.Spec.SecurityContext = &v1.PodSecurityContext{WindowsOptions: windows} },
		"UID":                func(p *v1.Pod) { p.UID = Secret },
	}[where]
}
