package replay

import (
	"encoding/json"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

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
		p := policytest.SomePod("web", policytest.Secretive(where))
		if !strings.Contains(text(p), policytest.Secret) {
			t.Fatalf("%s: the test has no secret", where)
		}
		x.pod(p)
		if strings.Contains(text(p), policytest.Secret) {
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
