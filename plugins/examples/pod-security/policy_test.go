package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func split(ids string) []string { return strings.Split(ids, ",") }

func TestEveryContainerOfAPodIsLookedAt(t *testing.T) {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		bad := container("bad")
		bad["securityContext"].(map[string]any)["privileged"] = true
		if got := violated(t, "baseline:latest", set("spec."+list, []any{container("good"), bad})); got != "privileged" {
			t.Errorf("%s: %q", list, got)
		}
	}
}

func TestTheMessageNamesFieldAndContainerAndValue(t *testing.T) {
	got := judge(t, usual, set("spec.containers.0.ports", []any{map[string]any{"containerPort": 1, "hostPort": 8080}}),
		set(of+"capabilities.add", []any{"NET_RAW"}), drop(ofPod+"runAsNonRoot"), set(of+"runAsNonRoot", false))
	want := `violates PodSecurity "restricted:latest": hostPorts: ports[*].hostPort must not be set (container "web": 8080); ` +
		`capabilities_restricted: securityContext.capabilities must drop "ALL" and may only add "NET_BIND_SERVICE" (container "web" adds: "NET_RAW"); ` +
		`runAsNonRoot: securityContext.runAsNonRoot must be true (container "init" does not set it, nor does the pod set it to true, ` +
		`container "web" sets it to false)`
	if got.Answer != sdktest.Deny || got.Code != "PodSecurityRestricted" || got.Message != want || got.Explanation != want {
		t.Errorf("got %+v\nwant %s", got, want)
	}
}

func TestTheExplanationOfAnAllowedPodNamesTheProfile(t *testing.T) {
	got := judge(t, map[string]any{"level": "baseline", "version": "v1.30"})
	if got.Answer != sdktest.Allow || got.Explanation != `keeps to PodSecurity "baseline:v1.30"` || len(got.Annotations) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestWindowsPodsNeedNotSetWhatOnlyLinuxHas(t *testing.T) {
	bare := []change{
		set("spec.os", map[string]any{"name": "windows"}), drop(ofPod + "seccompProfile"), drop("spec.initContainers"), drop("spec.containers.0.securityContext"),
	}
	for standard, want := range map[string]string{
		"restricted:latest": "", "restricted:v1.25": "",
		"restricted:v1.24": "allowPrivilegeEscalation,capabilities_restricted,seccompProfile_restricted",
	} {
		if got := violated(t, standard, bare...); got != want {
			t.Errorf("%s: %q", standard, got)
		}
	}
	bare = append(bare, set("spec.os", map[string]any{"name": "linux"}))
	if got := violated(t, "restricted:latest", bare...); got == "" {
		t.Error("a pod of Linux is not held to the rules")
	}
}

func TestAUserNamespaceRelaxesWhatRootMayDo(t *testing.T) {
	root := []change{set("spec.hostUsers", false), drop(ofPod + "runAsNonRoot"), set(of+"runAsUser", 0), set(of+"procMount", "Unmasked")}
	for standard, want := range map[string]string{
		"baseline:latest":   "",
		"baseline:v1.34":    "procMount",
		"restricted:latest": "procMount_restricted",
		"restricted:v1.34":  "procMount,runAsNonRoot,runAsUser",
	} {
		if got := violated(t, standard, root...); got != want {
			t.Errorf("%s: %q", standard, got)
		}
	}
	root = append(root, set("spec.hostUsers", true))
	if got := violated(t, "restricted:latest", root...); got != "procMount_restricted,runAsNonRoot,runAsUser" {
		t.Errorf("with the users of the host: %q", got)
	}
}

func TestSeccompAnnotationsCountForContainersThatExist(t *testing.T) {
	for key, want := range map[string]string{
		containerSeccompKey + "web": "seccompProfile_baseline", containerSeccompKey + "we": "", containerSeccompKey + "webb": "", podSeccompKey + "s": "",
	} {
		if got := violated(t, "baseline:v1.18", annotate(key, "unconfined")); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
	for _, value := range []string{"runtime/default", "docker/default", "localhost/a"} {
		if got := violated(t, "baseline:v1.18", annotate(podSeccompKey, value)); got != "" {
			t.Errorf("%s: %q", value, got)
		}
	}
}

func TestNamespacesMayHaveALevelOfTheirOwn(t *testing.T) {
	settings := map[string]any{"level": "restricted", "namespaces": map[string]any{
		"kube-system": "privileged", "old": "baseline:v1.18", "plain": "baseline", "default": "baseline",
	}}
	for namespace, want := range map[string]string{
		"kube-system": "", "old": "PodSecurityBaseline", "plain": "PodSecurityBaseline", "": "PodSecurityBaseline", "shop": "PodSecurityRestricted",
	} {
		if got := judge(t, settings, set("metadata.namespace", namespace), set("spec.hostIPC", true)); got.Code != want {
			t.Errorf("%q: %+v", namespace, got)
		}
	}
	if got := judge(t, settings, set("metadata.namespace", "old"), annotate(podSeccompKey, "")); got.Annotations[violations] != "seccompProfile_baseline" {
		t.Errorf("the version of a namespace: %+v", got)
	}
}

func TestRuntimeClassesMayBeExempt(t *testing.T) {
	settings := map[string]any{"level": "restricted", "exempt_runtime_classes": []string{"vm", "kata"}}
	for class, want := range map[string]sdktest.Answer{"kata": sdktest.Allow, "vm": sdktest.Allow, "kat": sdktest.Deny, "": sdktest.Deny} {
		if got := judge(t, settings, set("spec.hostIPC", true), set("spec.runtimeClassName", class)); got.Answer != want {
			t.Errorf("%q: %+v", class, got)
		}
	}
}

func TestWhatIsSaidHasBounds(t *testing.T) {
	many := make([]any, 100)
	for i := range many {
		many[i] = map[string]any{"name": strings.Repeat("x", 70), "securityContext": map[string]any{"privileged": true, "procMount": strings.Repeat("é", 100)}}
	}
	got := judge(t, usual, set("spec.containers", many), set("spec.initContainers", nil))
	if got.Answer != sdktest.Deny || len(got.Message) > 4<<10 || !strings.Contains(got.Message, "and 95 more)") {
		t.Errorf("%s, %d bytes: %s", got.Answer, len(got.Message), got.Message)
	}
}

func TestManyPortsAndLargeAnnotationsHaveRoom(t *testing.T) {
	ports := make([]any, 10_000)
	for i := range ports {
		ports[i] = map[string]any{"containerPort": i + 1}
	}
	if got := violated(t, "restricted:latest", set("spec.containers.0.ports", ports), annotate("a", strings.Repeat("x", 200<<10))); got != "" {
		t.Error(got)
	}
}

func TestAPodWithTooManyContainersIsNotAllowed(t *testing.T) {
	for n, want := range map[int]sdktest.Answer{250: sdktest.Allow, 1000: sdktest.Failed} {
		many := make([]any, n)
		for i := range many {
			many[i] = container("a")
		}
		if got := judge(t, usual, set("spec.containers", many)); got.Answer != want {
			t.Errorf("%d: %+v", n, got)
		}
	}
}
