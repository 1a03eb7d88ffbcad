package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// of is the path of a container's security context, ofPod the path of the pod's.
const (
	of            = "spec.containers.0.securityContext."
	ofPod         = "spec.securityContext."
	appArmorOfWeb = "container.apparmor.security.beta.kubernetes.io/web"
)

// violates has one way to violate each check, with the first version that has the check.
var violates = []struct {
	id                   string
	baseline, restricted versions
	change               change
}{
	{"appArmorProfile", always, always, set(of+"appArmorProfile", map[string]any{"type": "Unconfined"})},
	{"appArmorProfile", always, always, set(ofPod+"appArmorProfile", map[string]any{"type": ""})},
	{"appArmorProfile", always, always, annotate(appArmorOfWeb, "unconfined")},
	{"capabilities_baseline", always, before(22), set(of+"capabilities.add", []any{"CHOWN", "NET_RAW"})},
	{"capabilities_restricted", never, since(22), set(of+"capabilities.add", []any{"CHOWN"})},
	{"capabilities_restricted", never, since(22), set(of+"capabilities.drop", []any{"all"})},
	{"hostNamespaces", always, always, set("spec.hostNetwork", true)},
	{"hostNamespaces", always, always, set("spec.hostPID", true)},
	{"hostNamespaces", always, always, set("spec.hostIPC", true)},
	{"hostPathVolumes", always, never, set("spec.volumes", []any{map[string]any{"name": "a", "hostPath": map[string]any{"path": "/"}}})},
	{"restrictedVolumes", never, always, set("spec.volumes", []any{map[string]any{"name": "a", "hostPath": map[string]any{"path": "/"}}})},
	{"restrictedVolumes", never, always, set("spec.volumes", []any{map[string]any{"name": "a", "nfs": map[string]any{"server": "b", "path": "emptyDir"}}})},
	{"restrictedVolumes", never, always, set("spec.volumes", []any{map[string]any{"name": "emptyDir"}})},
	{"hostPorts", always, always, set("spec.containers.0.ports", []any{map[string]any{"containerPort": 1}, map[string]any{"containerPort": 2, "hostPort": 2}})},
	{"hostProbesAndHostLifecycle", since(34), since(34), set("spec.containers.0.livenessProbe.httpGet", map[string]any{"port": 1, "host": "h"})},
	{"hostProbesAndHostLifecycle", since(34), since(34), set("spec.containers.0.lifecycle.preStop.tcpSocket", map[string]any{"port": 1, "host": "h"})},
	{"privileged", always, always, set(of+"privileged", true)},
	{"procMount", always, before(35), set(of+"procMount", "Unmasked")},
	{"procMount_restricted", never, since(35), set(of+"procMount", "")},
	{"seLinuxOptions", always, always, set(of+"seLinuxOptions", map[string]any{"type": "spc_t"})},
	{"seLinuxOptions", before(31), before(31), set(of+"seLinuxOptions", map[string]any{"type": "container_engine_t"})},
	{"seLinuxOptions", always, always, set(ofPod+"seLinuxOptions", map[string]any{"user": "u"})},
	{"seLinuxOptions", always, always, set(of+"seLinuxOptions", map[string]any{"role": "r"})},
	{"seccompProfile_baseline", before(19), before(19), annotate(podSeccompKey, "unconfined")},
	{"seccompProfile_baseline", before(19), before(19), annotate(containerSeccompKey+"web", "")},
	{"seccompProfile_baseline", since(19), never, set(of+"seccompProfile", map[string]any{"type": "Unconfined"})},
	{"seccompProfile_restricted", never, since(19), set(of+"seccompProfile", map[string]any{"type": "Unconfined"})},
	{"seccompProfile_restricted", never, since(19), set(ofPod+"seccompProfile", map[string]any{"type": ""})},
	{"seccompProfile_restricted", never, since(19), drop(ofPod + "seccompProfile")},
	{"sysctls", always, always, set(ofPod+"sysctls", []any{map[string]any{"name": "kernel.msgmax", "value": "1"}})},
	{"sysctls", before(27), before(27), set(ofPod+"sysctls", []any{map[string]any{"name": "net.ipv4.ip_local_reserved_ports", "value": "1"}})},
	{"sysctls", before(29), before(29), set(ofPod+"sysctls", []any{map[string]any{"name": "net.ipv4.tcp_keepalive_time", "value": "1"}})},
	{"sysctls", before(32), before(32), set(ofPod+"sysctls", []any{map[string]any{"name": "net.ipv4.tcp_rmem", "value": "1"}})},
	{"windowsHostProcess", always, always, set(of+"windowsOptions", map[string]any{"hostProcess": true})},
	{"windowsHostProcess", always, always, set(ofPod+"windowsOptions", map[string]any{"hostProcess": true})},
	{"allowPrivilegeEscalation", never, since(8), set(of+"allowPrivilegeEscalation", true)},
	{"allowPrivilegeEscalation", never, since(8), drop("spec.initContainers.0.securityContext.allowPrivilegeEscalation")},
	{"runAsNonRoot", never, always, drop(ofPod + "runAsNonRoot")},
	{"runAsNonRoot", never, always, set(of+"runAsNonRoot", false)},
	{"runAsUser", never, since(23), set(of+"runAsUser", 0)},
	{"runAsUser", never, since(23), set(ofPod+"runAsUser", 0)},
}

func TestAPodThatKeepsToTheStandardIsAllowedInEveryVersion(t *testing.T) {
	for minor := range newest + 3 {
		version := "v1." + strconv.Itoa(minor)
		if got := violated(t, "baseline:"+version) + violated(t, "restricted:"+version); got != "" {
			t.Errorf("%s: %s", version, got)
		}
	}
}

func TestEachCheckHoldsFromItsVersionOn(t *testing.T) {
	for i, v := range violates {
		for _, minor := range []int{0, 7, 8, 18, 19, 21, 22, 23, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 99} {
			for level, in := range map[string]versions{"baseline": v.baseline, "restricted": v.restricted} {
				standard := level + ":v1." + strconv.Itoa(minor)
				got, want := violated(t, standard, v.change), in.has(min(minor, newest))
				if slices.Contains(split(got), v.id) != want || want && got != v.id {
					t.Errorf("%d, %s: %q, want %s: %v", i, standard, got, v.id, want)
				}
			}
			if got := violated(t, "privileged:v1."+strconv.Itoa(minor), v.change); got != "" {
				t.Errorf("%d: privileged violates %s", i, got)
			}
		}
	}
}

func TestEveryCheckHasAViolation(t *testing.T) {
	for _, c := range checks {
		found := false
		for _, v := range violates {
			found = found || v.id == c.id
		}
		if !found {
			t.Errorf("no test violates %s", c.id)
		}
	}
}

func TestNoProbeAndNoHandlerMayNameAHost(t *testing.T) {
	for _, h := range []string{
		"livenessProbe.httpGet", "livenessProbe.tcpSocket", "readinessProbe.httpGet", "readinessProbe.tcpSocket", "startupProbe.httpGet",
		"startupProbe.tcpSocket", "lifecycle.postStart.httpGet", "lifecycle.postStart.tcpSocket", "lifecycle.preStop.httpGet", "lifecycle.preStop.tcpSocket",
	} {
		got := judge(t, usual, set("spec.containers.0."+h, map[string]any{"port": 1, "host": "127.0.0.1"}))
		if !strings.Contains(got.Message, `(container "web" `+h+`.host: "127.0.0.1")`) {
			t.Errorf("%s: %+v", h, got)
		}
	}
}

func TestDefaultCapabilitiesMayBeAdded(t *testing.T) {
	for _, c := range []any{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	} {
		if got := violated(t, "baseline:latest", set(of+"capabilities.add", []any{c})); got != "" {
			t.Errorf("%s: %s", c, got)
		}
	}
}

func TestSeveralViolationsAreNamedInOrder(t *testing.T) {
	want := []string{"hostNamespaces", "hostPorts", "privileged", "allowPrivilegeEscalation", "capabilities_restricted", "runAsNonRoot", "seccompProfile_restricted"}
	got := violated(t, "restricted:latest", set("spec.hostPID", true), drop("spec.initContainers"), drop(ofPod+"runAsNonRoot"), drop(ofPod+"seccompProfile"),
		set("spec.containers.0.securityContext", map[string]any{"privileged": true}), set("spec.containers.0.ports", []any{map[string]any{"containerPort": 1, "hostPort": 1}}))
	if !slices.Equal(split(got), want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhatIsAllowedIsAllowed(t *testing.T) {
	for what, c := range map[string]change{
		"a profile of the node":        set(of+"appArmorProfile", map[string]any{"type": "Localhost", "localhostProfile": "a"}),
		"an annotation of the node":    annotate(appArmorOfWeb, "localhost/a"),
		"an annotation of the runtime": annotate(appArmorOfWeb, "runtime/default"),
		"an empty annotation":          annotate(appArmorOfWeb, ""),
		"another annotation":           annotate("container.apparmor", "unconfined"),
		"a low port":                   set(of+"capabilities.add", []any{"NET_BIND_SERVICE"}),
		"a container's own user":       set(of+"runAsUser", 1000),
		"a container's own nonRoot":    set(of+"runAsNonRoot", true),
		"a container's own seccomp":    set(of+"seccompProfile", map[string]any{"type": "Localhost", "localhostProfile": "a"}),
		"a probe of the pod":           set("spec.containers.0.livenessProbe.httpGet", map[string]any{"port": 1}),
		"a masked /proc":               set(of+"procMount", "Default"),
		"no privilege, said so":        set(of+"privileged", false),
		"a level of SELinux":           set(of+"seLinuxOptions", map[string]any{"type": "container_init_t", "level": "s0"}),
		"volumes of the API": set("spec.volumes", []any{
			map[string]any{"name": "hostPath", "emptyDir": map[string]any{}},
			map[string]any{"name": "b", "projected": map[string]any{"sources": []any{map[string]any{"configMap": map[string]any{"name": `a\"{[`}}}}},
			map[string]any{"name": "d", "image": map[string]any{}},
			map[string]any{"name": "e", "configMap": map[string]any{}},
			map[string]any{"name": "f", "secret": map[string]any{}},
			map[string]any{"name": "g", "downwardAPI": map[string]any{}},
			map[string]any{"name": "h", "ephemeral": map[string]any{}},
			map[string]any{"name": "i", "persistentVolumeClaim": map[string]any{"claimName": "a"}},
			map[string]any{"name": "c", "csi": map[string]any{"driver": "d", "volumeAttributes": map[string]any{"nfs": "}"}}},
		}),
	} {
		if got := violated(t, "restricted:latest", c) + violated(t, "baseline:latest", c); got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
}
