package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// mirroring is a node with static pods and an API server. The server has the pods in there.
type mirroring struct {
	t          *testing.T
	member     *Member
	now        time.Time
	static     []*v1.Pod
	incomplete bool
	ends       map[types.UID]bool
	// waiting is the name of a static pod without a status.
	waiting string
	// there are the pods of the server, and seen are those that the node has read, by name.
	there, seen map[string]*v1.Pod
	refuse      func(p *v1.Pod) (code int, reason metav1.StatusReason, message string)
	made        int
	requests    []string
	events      []string
}

func (m *mirroring) All() ([]*v1.Pod, bool)                { return m.static, !m.incomplete }
func (m *mirroring) Ends(uid types.UID) bool               { return m.ends[uid] }
func (m *mirroring) Wanted(name types.NamespacedName) bool { return name.Name == m.waiting }
func (m *mirroring) Event(p *v1.Pod, kind, reason, message string) {
	m.events = append(m.events, fmt.Sprintf("%s %s %s %s", p.Name, kind, reason, message))
}

func (m *mirroring) Mirrors() []*v1.Pod {
	var all []*v1.Pod
	for _, p := range m.seen {
		all = append(all, p)
	}
	return all
}

func newMirroring(t *testing.T) *mirroring {
	t.Helper()
	m := &mirroring{t: t, now: time.Unix(1e9, 0), there: map[string]*v1.Pod{}, seen: map[string]*v1.Pod{}, ends: map[types.UID]bool{}}
	m.member = newMember(serve(t, m.serve), pods{}, slog.New(slog.DiscardHandler))
	m.member.cfg.Statics, m.member.cfg.Now = m, func() time.Time { return m.now }
	m.member.remote = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "node"}}
	return m
}

func (m *mirroring) decode(r *http.Request, object interface{ Unmarshal([]byte) error }) {
	text, err := io.ReadAll(r.Body)
	var envelope runtime.Unknown
	if err := errors.Join(err, envelope.Unmarshal(bytes.TrimPrefix(text, []byte("k8s\x00"))), object.Unmarshal(envelope.Raw)); err != nil {
		m.t.Error(err)
	}
}

func (m *mirroring) serve(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	switch r.Method {
	case http.MethodPost:
		p := &v1.Pod{}
		m.decode(r, p)
		m.requests = append(m.requests, "create "+p.Name)
		if m.refuse != nil {
			code, reason, message := m.refuse(p)
			refuse(w, code, reason, message)
			return
		}
		if m.there[p.Name] != nil {
			refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, `pods "`+p.Name+`" already exists`)
			return
		}
		m.made++
		p.UID = types.UID(fmt.Sprint("m", m.made))
		m.there[p.Name] = p
		answer(w, http.StatusCreated, p)
	case http.MethodDelete:
		var how metav1.DeleteOptions
		m.decode(r, &how)
		m.requests = append(m.requests, "delete "+name)
		switch p := m.there[name]; {
		case p == nil:
			refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "not found")
		case *how.Preconditions.UID != p.UID || *how.GracePeriodSeconds != 0:
			refuse(w, http.StatusConflict, metav1.StatusReasonConflict, "another UID")
		default:
			delete(m.there, name)
			answer(w, http.StatusOK, p)
		}
	default:
		m.requests = append(m.requests, "get "+name)
		answer(w, http.StatusOK, m.there[name])
	}
}

// pass compares once, and returns the requests.
func (m *mirroring) pass() string {
	m.requests = nil
	m.member.mirrorAll(m.t.Context(), &trouble{log: m.member.log})
	return strings.Join(m.requests, ", ")
}

// read lets the node see what the server has.
func (m *mirroring) read() {
	clear(m.seen)
	maps.Copy(m.seen, m.there)
}

func staticPod(name, hash string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(hash), Annotations: map[string]string{pod.AnnotationHash: hash, pod.AnnotationSource: "file"}}}
}

func TestMirrorPods_followStaticPods(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	step := func(what, want string) {
		t.Helper()
		if got := m.pass(); got != want {
			t.Errorf("%s: requests %q, want %q", what, got, want)
		}
	}
	m.static = []*v1.Pod{staticPod("web", "1")}
	m.incomplete = true
	m.there["late"] = staticPod("late", "5")
	m.there["late"].Annotations[pod.AnnotationMirror] = "5"
	m.read()
	step("while a source has not answered, which may have the other pod", "create web")
	m.incomplete, m.waiting = false, "late"
	step("when it has answered, and its pod has no status yet", "")
	m.waiting = ""
	step("when it does not have the pod", "delete late")
	m.read()
	if got := m.there["web"]; got.Annotations[pod.AnnotationMirror] != "1" || got.OwnerReferences[0].UID != "node" || got.Spec.NodeName != "n" {
		t.Errorf("created %+v", got)
	}
	if !m.member.Mirrored("1") || m.member.Mirrored("2") {
		t.Error("the mirror pod is not known after its creation")
	}
	step("before the node has read it", "")
	m.read()
	step("after that", "")
	delete(m.there, "web")
	m.read()
	step("a user deleted it", "create web")
	m.read()
	m.there["web"].DeletionTimestamp = &metav1.Time{Time: m.now}
	step("a user deletes it gracefully", "delete web, create web")
	step("before the node has read that", "")
	m.read()
	m.static[0] = staticPod("web", "2")
	step("another version", "delete web, create web")
	m.read()
	m.static[0].UID = "own"
	step("with a UID of its own", "")
	m.ends["own"] = true
	m.static = nil
	step("the static pod is terminating", "")
	if !m.member.Mirrored("own") {
		t.Error("a terminating pod has no mirror pod any more")
	}
	m.ends = nil
	step("the static pod has ended", "delete web")
	m.read()
	step("no pod", "")
	if m.member.Mirrored("own") {
		t.Error("the mirror pod is still known")
	}
	m.there["liar"] = staticPod("liar", "7")
	m.there["liar"].Annotations[pod.AnnotationMirror] = "7"
	m.read()
	step("a pod that is no static pod's", "delete liar")
	m.read()
	m.member.remote.DeletionTimestamp = &metav1.Time{Time: m.now}
	m.static = []*v1.Pod{staticPod("web", "3")}
	step("the node is being deleted", "")
}

func TestMirrorPods_refused(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	m.static = []*v1.Pod{staticPod("web", "1")}
	m.refuse = func(*v1.Pod) (int, metav1.StatusReason, string) {
		return http.StatusForbidden, metav1.StatusReasonForbidden, "no such namespace"
	}
	attempts := 0
	var log strings.Builder
	problems := &trouble{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 120 {
		m.requests = nil
		if m.member.mirrorAll(t.Context(), problems); len(m.requests) > 0 {
			attempts++
		}
		m.now = m.now.Add(time.Second)
	}
	if attempts != 7 { // after 1, 2, 4, 8, 16 and 32 s
		t.Errorf("%d attempts", attempts)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines in the log, want one:\n%s", n, &log)
	}
	if len(m.events) != 1 || !strings.HasPrefix(m.events[0], "web Warning FailedMirrorPod The cluster does not show this pod: ") || !strings.Contains(m.events[0], "no such namespace") {
		t.Errorf("events %q", m.events)
	}
	m.refuse = nil
	m.there["web"] = staticPod("web", "1") // a user's
	m.now = m.now.Add(time.Hour)
	if got := m.pass(); got != "create web, get web" || len(m.events) != 2 || !strings.Contains(m.events[1], "another pod has its name") {
		t.Errorf("requests %q, events %q", got, m.events)
	}
	m.there["web"].Annotations[pod.AnnotationMirror], m.there["web"].Spec.NodeName = "1", "n"
	m.now = m.now.Add(time.Hour)
	if got := m.pass(); got != "create web, get web" || !m.member.Mirrored("1") {
		t.Errorf("requests %q for a mirror pod that was there", got)
	}
}

// TestMirrorPods_oneName: two sources have a pod of one name, of which one waits for the other.
func TestMirrorPods_oneName(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	m.member.cfg.Pods = starting{"2": true}
	m.static = []*v1.Pod{staticPod("web", "1"), staticPod("web", "2"), staticPod("web", "3")}
	if got := m.pass(); got != "create web" || !m.member.Mirrored("2") {
		t.Errorf("requests %q", got)
	}
	m.read()
	slices.Reverse(m.static)
	if got := m.pass(); got != "" {
		t.Errorf("in another order: requests %q", got)
	}
	m.member.cfg.Pods = starting{"3": true}
	if got := m.pass(); got != "delete web, create web" || !m.member.Mirrored("3") {
		t.Errorf("another one starts: requests %q", got)
	}
}

// starting are pods of which some have started.
type starting map[types.UID]bool

func (starting) All() []*v1.Pod                      { return nil }
func (starting) Get(types.UID) *v1.Pod               { return nil }
func (starting) Status(*v1.Pod) (v1.PodStatus, bool) { return v1.PodStatus{}, false }
func (starting) Adopt(types.UID, *v1.PodStatus)      {}
func (starting) MayRun(types.UID) bool               { return true }
func (s starting) Started(uid types.UID) bool        { return s[uid] }
func (starting) Begun(types.UID) bool                { return true }
func (starting) Finished(types.UID) bool             { return false }

// The API server accepts no mirror pod that refers to other objects.
func TestMirrorOf(t *testing.T) {
	t.Parallel()
	secret := &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{Key: "k"}}
	p := staticPod("web", "1")
	p.Labels = map[string]string{"app": "web"}
	p.Spec = v1.PodSpec{
		RuntimeClassName: new("kata"), Overhead: v1.ResourceList{}, ServiceAccountName: "sa", DeprecatedServiceAccount: "sa", Priority: new(int32(7)), PreemptionPolicy: new(v1.PreemptNever), PriorityClassName: "high",
		ImagePullSecrets: []v1.LocalObjectReference{{Name: "registry"}},
		ResourceClaims:   []v1.PodResourceClaim{{Name: "gpu"}},
		Volumes: []v1.Volume{
			{Name: "tmp", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
			{Name: "config", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{}}},
			{Name: "both", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{
				{ServiceAccountToken: &v1.ServiceAccountTokenProjection{}}, {DownwardAPI: &v1.DownwardAPIProjection{}},
			}}}},
			{Name: "token", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{
				{ServiceAccountToken: &v1.ServiceAccountTokenProjection{}},
			}}}},
		},
		InitContainers: []v1.Container{{Name: "init", VolumeMounts: []v1.VolumeMount{{Name: "config"}, {Name: "tmp"}}}},
		Containers: []v1.Container{{
			Name: "main", VolumeMounts: []v1.VolumeMount{{Name: "token"}, {Name: "both"}},
			Env:       []v1.EnvVar{{Name: "A", Value: "a"}, {Name: "PASSWORD", ValueFrom: secret}},
			EnvFrom:   []v1.EnvFromSource{{SecretRef: &v1.SecretEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "s"}}}, {ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "c"}}}},
			Resources: v1.ResourceRequirements{Claims: []v1.ResourceClaim{{Name: "gpu"}}},
		}},
	}
	before := p.DeepCopy()
	want := staticPod("web", "1")
	want.UID = ""
	want.Labels = p.Labels
	want.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "node", Controller: new(true)}}
	want.Annotations[pod.AnnotationMirror] = "1"
	want.Annotations["wardlet.dev/mirror-omits"] = "runtimeClassName kata; serviceAccountName sa; imagePullSecret registry; resourceClaim gpu; volume config; volume token; " +
		"env PASSWORD of main; envFrom Secret s of main; envFrom ConfigMap c of main"
	want.Spec = v1.PodSpec{
		NodeName: "n", PriorityClassName: "high",
		Volumes:        []v1.Volume{p.Spec.Volumes[0], {Name: "both", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{{DownwardAPI: &v1.DownwardAPIProjection{}}}}}}},
		InitContainers: []v1.Container{{Name: "init", VolumeMounts: []v1.VolumeMount{{Name: "tmp"}}}},
		Containers:     []v1.Container{{Name: "main", VolumeMounts: []v1.VolumeMount{{Name: "both"}}, Env: []v1.EnvVar{{Name: "A", Value: "a"}}}},
	}
	got := mirrorOf(p, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "node"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mirror pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("the static pod has changed:\n%s", diff)
	}
	plain := mirrorOf(staticPod("plain", "2"), &v1.Node{})
	if _, omits := plain.Annotations["wardlet.dev/mirror-omits"]; omits {
		t.Errorf("mirror pod %+v", plain)
	}
}
