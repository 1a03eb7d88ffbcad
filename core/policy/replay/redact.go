package replay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Redactor replaces values in documents that commonly hold secrets: values of environment
// variables, commands and their arguments, headers and queries of probes and lifecycle
// hooks, users and queries in the URLs of volumes, attributes and annotations of volumes,
// credential specs of Windows, all annotations except those that say how a pod is confined,
// and users and queries in the URLs that documents are from. Equal values have equal
// replacements. Without the Redactor, a replacement reveals nothing else about its value.
// UIDs and instances, which are made from whole documents, are replaced, too.
type Redactor struct{ key []byte }

// NewRedactor returns a Redactor with its own random key: two Redactors replace the same
// value differently.
func NewRedactor() *Redactor {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &Redactor{key}
}

// redactedPrefix begins the replacement of a value.
const redactedPrefix = "redacted-"

// value returns the replacement of a value, empty for an empty one.
func (x *Redactor) value(v string) string {
	if v == "" {
		return ""
	}
	return redactedPrefix + x.sum("value", v)[:8]
}

// name returns the replacement of a name that is made from a whole document, such as a UID.
func (x *Redactor) name(v string) string {
	if v == "" {
		return ""
	}
	return x.sum("name", v)[:32]
}

func (x *Redactor) sum(kind, v string) string {
	h := hmac.New(sha256.New, x.key)
	h.Write([]byte(kind + "\x00" + v))
	return hex.EncodeToString(h.Sum(nil))
}

func (x *Redactor) values(all []string) {
	for i := range all {
		all[i] = x.value(all[i])
	}
}

// confines reports whether an annotation says what a pod may do, or where the pod is from.
func confines(key string) bool {
	switch key {
	case pod.AnnotationSource, v1.SeccompPodAnnotationKey:
		return true
	}
	return strings.HasPrefix(key, v1.SeccompContainerAnnotationKeyPrefix) || strings.HasPrefix(key, v1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
}

// pod redacts a pod in place.
func (x *Redactor) pod(p *v1.Pod) {
	p.UID = types.UID(x.name(string(p.UID)))
	for key, value := range p.Annotations {
		if !confines(key) {
			p.Annotations[key] = x.value(value)
		}
	}
	for c := range pod.Containers(p) {
		x.container(c)
	}
	for i := range p.Spec.Volumes {
		x.volume(&p.Spec.Volumes[i])
	}
	if c := p.Spec.SecurityContext; c != nil {
		x.windows(c.WindowsOptions)
	}
}

func (x *Redactor) volume(v *v1.Volume) {
	if v.CSI != nil {
		x.settings(v.CSI.VolumeAttributes)
	}
	if v.FlexVolume != nil {
		x.settings(v.FlexVolume.Options)
	}
	if v.GitRepo != nil {
		v.GitRepo.Repository = x.url(v.GitRepo.Repository)
	}
	if v.AzureDisk != nil {
		v.AzureDisk.DataDiskURI = x.url(v.AzureDisk.DataDiskURI)
	}
	if v.ScaleIO != nil {
		v.ScaleIO.Gateway = x.url(v.ScaleIO.Gateway)
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		x.settings(v.Ephemeral.VolumeClaimTemplate.Annotations)
		v.Ephemeral.VolumeClaimTemplate.ManagedFields = nil
	}
	if v.Projected != nil {
		for i := range v.Projected.Sources {
			if c := v.Projected.Sources[i].PodCertificate; c != nil {
				x.settings(c.UserAnnotations)
			}
		}
	}
}

func (x *Redactor) windows(o *v1.WindowsSecurityContextOptions) {
	if o != nil && o.GMSACredentialSpec != nil {
		o.GMSACredentialSpec = new(x.value(*o.GMSACredentialSpec))
	}
}

func (x *Redactor) settings(all map[string]string) {
	for key, value := range all {
		all[key] = x.value(value)
	}
}

func (x *Redactor) container(c *v1.Container) {
	x.values(c.Command)
	x.values(c.Args)
	for i := range c.Env {
		c.Env[i].Value = x.value(c.Env[i].Value)
	}
	if c.SecurityContext != nil {
		x.windows(c.SecurityContext.WindowsOptions)
	}
	for _, probe := range []*v1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			x.act(probe.Exec, probe.HTTPGet)
		}
	}
	if c.Lifecycle == nil {
		return
	}
	for _, hook := range []*v1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if hook != nil {
			x.act(hook.Exec, hook.HTTPGet)
		}
	}
}

func (x *Redactor) act(exec *v1.ExecAction, get *v1.HTTPGetAction) {
	if exec != nil {
		x.values(exec.Command)
	}
	if get != nil {
		get.Path = x.url(get.Path)
		for i := range get.HTTPHeaders {
			get.HTTPHeaders[i].Value = x.value(get.HTTPHeaders[i].Value)
		}
	}
}

// facts redacts what a policy saw of the node in place.
func (x *Redactor) facts(f *abi.NodeFacts) {
	for i := range f.Pods {
		f.Pods[i].UID = x.name(f.Pods[i].UID)
	}
}
