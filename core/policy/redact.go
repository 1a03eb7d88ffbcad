package policy

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Redactor takes the values out of documents that people keep secrets in: those of
// environment variables, commands and their arguments, headers of probes, the
// attributes of volumes from drivers, and annotations but those that say how a pod
// is confined. What stands there instead is equal where the values were, and tells
// nothing else of them to who does not have the Redactor. UIDs and instances, which
// are made from whole documents, are others, too.
type Redactor struct{ key []byte }

// NewRedactor gives one of its own: what two of them make of the same is not equal.
func NewRedactor() *Redactor {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &Redactor{key}
}

// redactedPrefix begins what stands for a value.
const redactedPrefix = "redacted-"

// value is what stands for a value; nothing stands for nothing.
func (x *Redactor) value(v string) string {
	if v == "" {
		return ""
	}
	return redactedPrefix + x.sum("value", v)[:8]
}

// name stands for what is made from a whole document.
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

// confining are the beginnings of annotations that say what a pod may do.
var confining = []string{
	"kubernetes.io/config.source", "container.apparmor.security.beta.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/",
	"container.seccomp.security.alpha.kubernetes.io/",
}

// pod redacts a pod in place.
func (x *Redactor) pod(p *v1.Pod) {
	p.UID = types.UID(x.name(string(p.UID)))
	for key, value := range p.Annotations {
		if !slices.ContainsFunc(confining, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			p.Annotations[key] = x.value(value)
		}
	}
	for i := range p.Spec.InitContainers {
		x.container(&p.Spec.InitContainers[i])
	}
	for i := range p.Spec.Containers {
		x.container(&p.Spec.Containers[i])
	}
	for i := range p.Spec.EphemeralContainers {
		c := v1.Container(p.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		x.container(&c)
		p.Spec.EphemeralContainers[i].EphemeralContainerCommon = v1.EphemeralContainerCommon(c)
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.CSI != nil {
			x.settings(v.CSI.VolumeAttributes)
		}
		if v.FlexVolume != nil {
			x.settings(v.FlexVolume.Options)
		}
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
		for i := range get.HTTPHeaders {
			get.HTTPHeaders[i].Value = x.value(get.HTTPHeaders[i].Value)
		}
	}
}

// facts redacts what a policy saw of the node in place.
func (x *Redactor) facts(f *wasm.NodeFacts) {
	for i := range f.Pods {
		f.Pods[i].UID = x.name(f.Pods[i].UID)
	}
}
