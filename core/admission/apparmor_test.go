package admission

import (
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// kernelWith returns a root directory with the AppArmor files of a kernel.
func kernelWith(t *testing.T, securityfs bool, enabled string) string {
	t.Helper()
	root := t.TempDir()
	parameters := filepath.Join(root, "sys/module/apparmor/parameters")
	for _, dir := range []string{parameters, filepath.Join(root, "sys/kernel/security")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if securityfs {
		if err := os.Mkdir(filepath.Join(root, "sys/kernel/security/apparmor"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if enabled != "" {
		if err := os.WriteFile(filepath.Join(parameters, "enabled"), []byte(enabled), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAppArmor(t *testing.T) {
	t.Parallel()
	local := func(name string) *v1.AppArmorProfile {
		return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
	}
	byDefault := &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeRuntimeDefault}
	const off = "Cannot enforce AppArmor: AppArmor is not enabled on the host"
	for _, c := range []struct {
		name           string
		on             bool
		phase          v1.PodPhase
		pod, container *v1.AppArmorProfile
		refused        string
	}{
		{name: "nothing is asked", phase: v1.PodPending},
		{name: "the kernel enforces it", on: true, phase: v1.PodPending, pod: byDefault},
		{name: "the kernel does not", phase: v1.PodPending, pod: byDefault, refused: off},
		{name: "for one container it would be needed", phase: v1.PodPending, container: byDefault, refused: off},
		{name: "none is wanted", phase: v1.PodPending, pod: &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeUnconfined}},
		{name: "a pod that runs was asked before", phase: v1.PodRunning, pod: byDefault},
		{name: "a profile that the node has", on: true, phase: v1.PodPending, container: local("mine")},
		{
			name: "a profile without a name", on: true, phase: v1.PodPending, container: local(" "),
			refused: `Cannot enforce AppArmor: invalid empty AppArmor profile name: "&AppArmorProfile{Type:Localhost,LocalhostProfile:* ,}"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPod("1")
			p.Status.Phase = c.phase
			p.Spec.SecurityContext = &v1.PodSecurityContext{AppArmorProfile: c.pod}
			p.Spec.Containers[0].SecurityContext = &v1.SecurityContext{AppArmorProfile: c.container}
			want := Result{Admitted: true}
			if c.refused != "" {
				want = Result{Reason: "AppArmor", Message: c.refused}
			}
			enabled := "N\n"
			if c.on {
				enabled = "Y\n"
			}
			if got := AppArmor(kernelWith(t, true, enabled)).Admit(&Attributes{Pod: p}); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestWhereAppArmorIsOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		securityfs bool
		enabled    string
		want       bool
	}{
		"it is there, and on":      {true, "Y\n", true},
		"it is there, and off":     {true, "N\n", false},
		"its files are not there":  {false, "Y\n", false},
		"the kernel has no module": {true, "", false},
	} {
		if got := enforces(kernelWith(t, c.securityfs, c.enabled)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
