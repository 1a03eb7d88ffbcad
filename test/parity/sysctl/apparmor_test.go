package sysctl

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission"
)

// kernelWith returns a root directory of a kernel with AppArmor, enabled or disabled.
func kernelWith(t *testing.T, enabled bool) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"sys/kernel/security/apparmor", "sys/module/apparmor/parameters"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := "N\n"
	if enabled {
		text = "Y\n"
	}
	if err := os.WriteFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func profile(r *rand.Rand) *v1.AppArmorProfile {
	switch r.IntN(7) {
	case 0:
		return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeRuntimeDefault}
	case 1:
		return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeUnconfined}
	case 2:
		return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost, LocalhostProfile: new([]string{"mine", "", " "}[r.IntN(3)])}
	case 3:
		return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost}
	}
	return nil
}

// TestAppArmorIsEnforcedAsByAKubelet is not parallel, because a kubelet inspects its host once for
// the whole process.
func TestAppArmorIsEnforcedAsByAKubelet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, enabled := range []bool{false, true} {
		theirs, ours := appArmorOf(enabled), admission.AppArmor(kernelWith(t, enabled))
		refused := 0
		for range rounds {
			p := &v1.Pod{}
			p.Status.Phase = []v1.PodPhase{v1.PodPending, v1.PodPending, v1.PodPending, v1.PodRunning, ""}[r.IntN(5)]
			if r.IntN(2) == 0 {
				p.Spec.SecurityContext = &v1.PodSecurityContext{AppArmorProfile: profile(r)}
			}
			for i := range 1 + r.IntN(2) {
				c := v1.Container{Name: string(rune('a' + i))}
				if r.IntN(2) == 0 {
					c.SecurityContext = &v1.SecurityContext{AppArmorProfile: profile(r)}
				}
				p.Spec.Containers = append(p.Spec.Containers, c)
			}
			if r.IntN(4) == 0 {
				p.Spec.InitContainers = []v1.Container{{Name: "init", SecurityContext: &v1.SecurityContext{AppArmorProfile: profile(r)}}}
			}
			// A kubelet uses an arbitrary one of several annotations.
			if r.IntN(3) == 0 {
				said := []string{"runtime/default", "unconfined", "localhost/mine", "localhost/", "what", ""}[r.IntN(6)]
				p.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/" + []string{"a", "b", "other"}[r.IntN(3)]: said}
			}
			if same(t, asks(theirs, p), ours.Admit(&admission.Attributes{Pod: p}), enabled, p) {
				refused++
			}
		}
		if refused < rounds/20 || refused > rounds*19/20 {
			t.Errorf("%d of %d were refused, which compares little", refused, rounds)
		}
	}
}
