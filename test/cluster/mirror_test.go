//go:build e2e

package cluster

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// knownStatics stands in for an agent's static pods.
type knownStatics struct {
	r *rig
	t *testing.T

	mu     sync.Mutex
	pods   []*v1.Pod
	events []string
}

func (k *knownStatics) All() ([]*v1.Pod, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods, true
}

func (k *knownStatics) Mirrors() []*v1.Pod {
	var mirrors []*v1.Pod
	for _, p := range k.r.listed(k.t) {
		if p.Spec.NodeName == k.r.node && pod.IsMirror(p) {
			mirrors = append(mirrors, p)
		}
	}
	return mirrors
}

func (k *knownStatics) Ends(types.UID) bool { return false }

func (k *knownStatics) Wanted(types.NamespacedName) bool { return false }

func (k *knownStatics) Event(_ *v1.Pod, _, reason, message string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, reason+": "+message)
}

func (k *knownStatics) set(pods ...*v1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pods = pods
}

// A static pod has a mirror pod at the API server, with its status, whatever users do to that
// copy. The server (NodeRestriction) accepts the copy although the static pod refers to objects.
func TestMember_mirrorPods(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	statics := &knownStatics{r: r, t: t}
	m := r.memberOf(t, statics)
	eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	static := func(hash, image string) *v1.Pod {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.space, Name: "web", UID: types.UID(hash)}}
		p.Annotations = map[string]string{pod.AnnotationHash: hash, pod.AnnotationSource: "static"}
		p.Spec = v1.PodSpec{
			ServiceAccountName: "local", Priority: new(int32(5)),
			Containers: []v1.Container{{Name: "main", Image: image, VolumeMounts: []v1.VolumeMount{{Name: "config", MountPath: "/config"}}}},
			Volumes:    []v1.Volume{{Name: "config", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: "local"}}}}},
		}
		return p
	}
	show := func(p *v1.Pod) {
		statics.set(p)
		m.pods.mu.Lock()
		m.pods.statuses[p.UID] = v1.PodStatus{Phase: v1.PodRunning, QOSClass: v1.PodQOSBestEffort}
		m.pods.mu.Unlock()
		m.Changed(p.UID)
		m.MirrorsChanged()
	}
	mirror := func() *v1.Pod { return r.listed(t)[r.space+"/web"] }
	state := func() string {
		p := mirror()
		if p == nil {
			return "none"
		}
		return fmt.Sprint(p.Annotations[pod.AnnotationMirror], " ", p.Spec.Containers[0].Image, " ", p.Status.Phase)
	}
	show(static("1", "old"))
	eventually(t, "1 old Running", state)
	if got := mirror().Annotations["wardlet.dev/mirror-omits"]; got != "serviceAccountName local; volume config" {
		t.Errorf("the mirror pod omits %q", got)
	}
	first := mirror().UID
	r.purge(t, "web")
	eventually(t, true, func() bool { p := mirror(); return p != nil && p.UID != first && p.Status.Phase == v1.PodRunning })
	r.remove(t, "web") // with its grace period: nothing else would end it
	eventually(t, "1 old Running", state)
	show(static("2", "new"))
	eventually(t, "2 new Running", state)
	statics.set()
	m.MirrorsChanged()
	eventually(t, "none", state)

	elsewhere := static("3", "new")
	elsewhere.Namespace = "nowhere"
	show(elsewhere)
	eventually(t, true, func() bool {
		statics.mu.Lock()
		defer statics.mu.Unlock()
		return len(statics.events) > 0 && strings.HasPrefix(statics.events[0], "FailedMirrorPod: ") && strings.Contains(statics.events[0], "nowhere")
	})
}
