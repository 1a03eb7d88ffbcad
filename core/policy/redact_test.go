package policy

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state"
)

const secret = "hunter2"

// secretive is a pod with a secret wherever people put them, in a container of its own
// kind or in another place.
func secretive(where string) func(*v1.Pod) {
	c := func() v1.Container { return v1.Container{Name: "c", Image: "i"} }
	in := func(change func(*v1.Container)) func(*v1.Pod) {
		return func(p *v1.Pod) { change(&p.Spec.Containers[0]) }
	}
	exec := &v1.ExecAction{Command: []string{"check", secret}}
	get := &v1.HTTPGetAction{HTTPHeaders: []v1.HTTPHeader{{Name: "Authorization", Value: secret}}}
	query := &v1.HTTPGetAction{Path: "/healthz?token=" + secret}
	volume := func(source v1.VolumeSource) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: source}} }
	}
	windows := &v1.WindowsSecurityContextOptions{GMSACredentialSpec: new(secret)}
	return map[string]func(*v1.Pod){
		"env":     in(func(c *v1.Container) { c.Env = []v1.EnvVar{{Name: "PASSWORD", Value: secret}} }),
		"command": in(func(c *v1.Container) { c.Command = []string{"sh", "-c", "login " + secret} }),
		"args":    in(func(c *v1.Container) { c.Args = []string{secret} }),
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
			x.Args = []string{secret}
			p.Spec.InitContainers = []v1.Container{x}
		},
		"ephemeral": func(p *v1.Pod) {
			x := c()
			x.Args = []string{secret}
			p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon(x)}}
		},
		"annotation": func(p *v1.Pod) { p.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = secret },
		"an annotation that begins like the source": func(p *v1.Pod) { p.Annotations[pod.AnnotationSource+"-token"] = secret },
		"an annotation that begins like seccomp's":  func(p *v1.Pod) { p.Annotations["seccomp.security.alpha.kubernetes.io/pod-token"] = secret },
		"csi":  volume(v1.VolumeSource{CSI: &v1.CSIVolumeSource{VolumeAttributes: map[string]string{"key": secret}}}),
		"flex": volume(v1.VolumeSource{FlexVolume: &v1.FlexVolumeSource{Options: map[string]string{"key": secret}}}),
		"claim": volume(v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{
				Annotations:   map[string]string{pod.AnnotationSource: secret},
				ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(`{"v:` + secret + `":{}}`)}},
			},
		}}}),
		"certificate": volume(v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{{
			PodCertificate: &v1.PodCertificateProjection{UserAnnotations: map[string]string{"key": secret}},
		}}}}),
		"git":                volume(v1.VolumeSource{GitRepo: &v1.GitRepoVolumeSource{Repository: "https://ana:" + secret + "@git.example/shop"}}),
		"disk":               volume(v1.VolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DataDiskURI: "https://disks.example/web.vhd?sig=" + secret}}),
		"gateway":            volume(v1.VolumeSource{ScaleIO: &v1.ScaleIOVolumeSource{Gateway: "https://ana:" + secret + "@gateway.example/api"}}),
		"liveness query":     in(func(c *v1.Container) { c.LivenessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: query}} }),
		"postStart query":    in(func(c *v1.Container) { c.Lifecycle = &v1.Lifecycle{PostStart: &v1.LifecycleHandler{HTTPGet: query}} }),
		"windows":            in(func(c *v1.Container) { c.SecurityContext = &v1.SecurityContext{WindowsOptions: windows} }),
		"windows of the pod": func(p *v1.Pod) { p.Spec.SecurityContext = &v1.PodSecurityContext{WindowsOptions: windows} },
		"UID":                func(p *v1.Pod) { p.UID = secret },
	}[where]
}

func TestWhereSecretsMayStandIsTakenOut(t *testing.T) {
	t.Parallel()
	x := NewRedactor()
	for _, where := range []string{
		"env", "command", "args", "liveness", "readiness", "startup", "postStart", "preStop", "init", "ephemeral", "annotation", "csi", "flex", "UID",
		"an annotation that begins like the source", "an annotation that begins like seccomp's", "claim", "certificate", "git", "disk", "gateway",
		"liveness query", "postStart query", "windows", "windows of the pod",
	} {
		text := func(p *v1.Pod) string {
			text, err := json.Marshal(p)
			policytest.Must(t, err)
			return string(text)
		}
		p := policytest.SomePod("web", secretive(where))
		if !strings.Contains(text(p), secret) {
			t.Fatalf("%s: the test has no secret", where)
		}
		x.pod(p)
		if strings.Contains(text(p), secret) {
			t.Errorf("%s: it stands there still: %s", where, text(p))
		}
	}
}

func TestWhatPoliciesGoByStays(t *testing.T) {
	t.Parallel()
	confined := map[string]string{
		pod.AnnotationSource: "static", "container.apparmor.security.beta.kubernetes.io/c": "runtime/default",
		"seccomp.security.alpha.kubernetes.io/pod": "unconfined",
	}
	p := policytest.SomePod("web", func(p *v1.Pod) {
		p.Labels, p.Annotations = map[string]string{"team": "shop"}, confined
		p.Spec.Containers[0].Env = []v1.EnvVar{{Name: "EMPTY"}, {Name: "ONE", Value: "x"}, {Name: "TWO", Value: "x"}, {Name: "THREE", Value: "y"}}
	})
	before := p.DeepCopy()
	NewRedactor().pod(p)
	if p.Labels["team"] != "shop" || p.Spec.Containers[0].Image != before.Spec.Containers[0].Image {
		t.Errorf("got %+v", p)
	}
	for key, value := range confined {
		if p.Annotations[key] != value {
			t.Errorf("%s is %q", key, p.Annotations[key])
		}
	}
	env := p.Spec.Containers[0].Env
	if env[0].Value != "" || env[1].Value != env[2].Value || env[1].Value == env[3].Value {
		t.Errorf("what is equal or empty is told no more: %+v", env)
	}
	if NewRedactor().value("x") == env[1].Value {
		t.Error("another one makes the same of it")
	}
}

func TestOfAURLOnlyWhatMayBeASecretIsTakenOut(t *testing.T) {
	t.Parallel()
	x := NewRedactor()
	for url, want := range map[string]string{
		"":                                    "",
		"/healthz":                            "/healthz",
		"/healthz?":                           "/healthz?",
		"/healthz?token=a":                    "/healthz?" + x.value("token=a"),
		"/healthz#token=a":                    "/healthz#" + x.value("token=a"),
		"/%zz?token=a?b#c":                    "/%zz?" + x.value("token=a?b#c"),
		"/from?token=a&to=https://b/c":        "/from?" + x.value("token=a&to=https://b/c"),
		"/@ana/shop":                          "/@ana/shop",
		"https://git.example/shop":            "https://git.example/shop",
		"https://ana:pass@git.example/shop?a": "https://" + x.value("ana:pass") + "@git.example/shop?" + x.value("a"),
		"https://ana:p@ss@git.example":        "https://" + x.value("ana:p@ss") + "@git.example",
		"git@git.example:shop.git":            x.value("git") + "@git.example:shop.git",
		// An unescaped / or ? in a password counts as part of it.
		"https://ana:pa/ss@git.example/shop": "https://" + x.value("ana:pa/ss@git.example/shop"),
		"https://ana:pa?ss@git.example/shop": "https://" + x.value("ana:pa?ss@git.example/shop"),
	} {
		if got := x.url(url); got != want {
			t.Errorf("of %q: %q stays, want %q", url, got, want)
		}
	}
}

func TestOfTheIDOfADocumentItsIndexStays(t *testing.T) {
	t.Parallel()
	x := NewRedactor()
	for id, want := range map[string]string{
		"":                                      "",
		"web.yaml#0":                            "web.yaml#0",
		"/manifests/web@home.yaml#12":           "/manifests/web@home.yaml#12",
		"shop/web":                              "shop/web",
		"https://config.example/web.yaml#1":     "https://config.example/web.yaml#1",
		"https://config.example/web?token=a#2":  "https://config.example/web?" + x.value("token=a") + "#2",
		"https://ana:pass@config.example/web#3": "https://" + x.value("ana:pass") + "@config.example/web#3",
		"https://config.example/web#token":      "https://config.example/web#" + x.value("token"),
	} {
		if got := x.document(id); got != want {
			t.Errorf("of %q: %q stays, want %q", id, got, want)
		}
	}
}

// redactedOf has decisions made about pods with a secret, of every hook, and returns the
// records with what is made of them.
func redactedOf(t *testing.T, script, more string, do func(p *Engine, d policytest.Tree)) (all []*state.DecisionEntry, left []*Difference) {
	t.Helper()
	at, d, s := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
	d.Write("p.toml", policytest.DocumentIn("p", script, more))
	d.Write("p.wasm", script)
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records, c.Sources = log, []string{"cluster", "static"}
	c.Facts = &Node{Pods: func() []NodePod {
		return []NodePod{{policytest.SomePod("other", func(p *v1.Pod) { p.UID = secret }), "static"}}
	}, Wanted: func(types.UID, string) bool { return true }}
	p := New(c)
	stop := run(t, p)
	do(p, d)
	stop()
	closeAll()
	again, x := NewRepeater(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler)), NewRedactor()
	defer again.Close()
	records, exhibits := evidenceIn(t, at)
	for i, r := range records {
		e, diff, err := again.Redacted(t.Context(), r, exhibits[i], x)
		policytest.Must(t, err)
		if diff != nil {
			left = append(left, diff)
			continue
		}
		if diff := repeated(t, again, e.Record, redacted{exhibits[i], e.Inputs}); diff != nil {
			t.Errorf("%s of %s comes out otherwise where it is made again: %v", r.Hook, r.Name, diff)
		}
		all = append(all, e)
	}
	return all, left
}

func TestARedactedRecordTellsNoSecretAndCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	hide := func(q *api.Question) { secretive("env")(q.Pod) }
	for name, test := range map[string]struct {
		script, more string
		do           func(t *testing.T, p *Engine, d policytest.Tree)
		want         int
	}{
		"of every hook": {"deny No never", anyHook, func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); everyHook(t, p, "web") }, 3},
		"a plugin that says all it knows": {"say-env", "", func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			ask(t, p, policytest.Question("web", hide))
		}, 1},
		"of one that sees the node": {"quota 1", "capabilities = [\"node.read\"]", func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			ask(t, p, policytest.Question("web", hide))
		}, 1},
		"what it had said before": {"say-env", "on_error = \"last_verdict\"", func(t *testing.T, p *Engine, d policytest.Tree) {
			t.Helper()
			ask(t, p, policytest.Question("web", hide))
			d.Policy("p", "trap no", "on_error = \"last_verdict\"")
			_, err := p.Reload(t.Context(), "")
			policytest.Must(t, err)
			ask(t, p, policytest.Question("web", hide))
		}, 2},
		"documents that are from a URL": {"winner 1", anyHook, func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			url := func(of string) string {
				return "https://ana:" + secret + "@config.example/" + of + "?token=" + secret + "#0"
			}
			ask(t, p, policytest.Question("web", func(q *api.Question) { q.Origin.Document = url("web.yaml") }))
			c := contested("web")
			c.Candidates[0].Origin.Document, c.Candidates[1].Origin.Document = url("a"), url("b")
			resolved := make(chan api.Resolution, 1)
			p.Rules().Resolve(c, func(r api.Resolution) { resolved <- r })
			<-resolved
		}, 2},
		"one that is put off": {"deny No never", "", func(t *testing.T, p *Engine, _ policytest.Tree) {
			t.Helper()
			for _, name := range []string{"one", "two"} {
				ask(t, p, ofController(name, "set", hide, func(q *api.Question) { q.Origin.Source = "cluster" }))
			}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, left := redactedOf(t, test.script, test.more, func(p *Engine, d policytest.Tree) { test.do(t, p, d) })
			if len(all) != test.want || len(left) > 0 {
				t.Errorf("%d are redacted, %v are left out", len(all), left)
			}
			for _, e := range all {
				text, err := json.Marshal(e.Record)
				policytest.Must(t, err)
				for _, input := range e.Inputs {
					text = append(text, input...)
				}
				if strings.Contains(string(text), secret) || !e.Record.Redacted {
					t.Errorf("it tells the secret: %s", text)
				}
			}
		})
	}
}

func TestADecisionThatASecretHasMadeIsNotRedacted(t *testing.T) {
	t.Parallel()
	all, left := redactedOf(t, "deny-env "+secret, "", func(p *Engine, _ policytest.Tree) {
		ask(t, p, policytest.Question("web", func(q *api.Question) { secretive("env")(q.Pod) }))
	})
	if len(all) != 0 || len(left) != 1 || left[0].Field != "answer" {
		t.Errorf("%d are redacted, left out %v", len(all), left)
	}
}
