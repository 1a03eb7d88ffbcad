package runtime

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
)

func TestContainerSecurity(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, user := range map[string]string{"named:1": "app", "numbered:1": "7", "root:1": ""} {
		r.cri.Load(name, 1, fakecri.Program{User: user})
	}
	local := &v1.SeccompProfile{Type: v1.SeccompProfileTypeLocalhost, LocalhostProfile: new("a/b.json")}
	for name, test := range map[string]struct {
		pod   *v1.PodSecurityContext
		of    *v1.SecurityContext
		image string
		check func(*runtimeapi.LinuxContainerSecurityContext) bool
		err   string
	}{
		"nothing is said": {check: func(c *runtimeapi.LinuxContainerSecurityContext) bool {
			return c.RunAsUser == nil && c.RunAsUsername == "" && !c.Privileged && !c.NoNewPrivs && len(c.MaskedPaths) > 10 && len(c.ReadonlyPaths) == 5 &&
				c.Seccomp.ProfileType == runtimeapi.SecurityProfile_Unconfined
		}},
		"the container's word comes before the pod's": {
			pod: &v1.PodSecurityContext{RunAsUser: new(int64(1)), RunAsGroup: new(int64(2)), SeccompProfile: &v1.SeccompProfile{Type: v1.SeccompProfileTypeRuntimeDefault}},
			of:  &v1.SecurityContext{RunAsUser: new(int64(3)), SeccompProfile: local},
			check: func(c *runtimeapi.LinuxContainerSecurityContext) bool {
				return c.RunAsUser.Value == 3 && c.RunAsGroup.Value == 2 && c.Seccomp.LocalhostRef == r.layout.SeccompDir()+"/a/b.json"
			},
		},
		"groups": {
			pod: &v1.PodSecurityContext{FSGroup: new(int64(5)), SupplementalGroups: []int64{6}, SupplementalGroupsPolicy: new(v1.SupplementalGroupsPolicyStrict)},
			check: func(c *runtimeapi.LinuxContainerSecurityContext) bool {
				return len(c.SupplementalGroups) == 2 && c.SupplementalGroups[0] == 5 && c.SupplementalGroupsPolicy == runtimeapi.SupplementalGroupsPolicy_Strict
			},
		},
		"rights": {
			of: &v1.SecurityContext{
				Privileged: new(true), ReadOnlyRootFilesystem: new(true), Capabilities: &v1.Capabilities{Add: []v1.Capability{"NET_ADMIN"}, Drop: []v1.Capability{"ALL"}},
				SELinuxOptions: &v1.SELinuxOptions{Level: "s0"},
			},
			check: func(c *runtimeapi.LinuxContainerSecurityContext) bool {
				return c.Privileged && c.ReadonlyRootfs && c.Capabilities.AddCapabilities[0] == "NET_ADMIN" && c.Capabilities.DropCapabilities[0] == "ALL" && c.SelinuxOptions.Level == "s0"
			},
		},
		"no escalation": {
			of:    &v1.SecurityContext{AllowPrivilegeEscalation: new(false)},
			check: func(c *runtimeapi.LinuxContainerSecurityContext) bool { return c.NoNewPrivs },
		},
		"no root, and a user by number": {
			of: &v1.SecurityContext{RunAsNonRoot: new(true)}, image: "numbered:1",
			check: func(c *runtimeapi.LinuxContainerSecurityContext) bool { return c.RunAsUser.Value == 7 },
		},
		"a group needs a user": {
			of: &v1.SecurityContext{RunAsGroup: new(int64(2))}, image: "named:1",
			check: func(c *runtimeapi.LinuxContainerSecurityContext) bool {
				return c.RunAsUsername == "app" && c.RunAsGroup.Value == 2
			},
		},
		"no root, and runAsUser 0":           {of: &v1.SecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(0))}, err: "runAsUser 0 breaks runAsNonRoot"},
		"no root, and an image of root":      {of: &v1.SecurityContext{RunAsNonRoot: new(true)}, image: "root:1", err: "the image runs as root"},
		"no root, and a user by name":        {of: &v1.SecurityContext{RunAsNonRoot: new(true)}, image: "named:1", err: `the image has "app"; set runAsUser`},
		"no root, and an image that is gone": {of: &v1.SecurityContext{RunAsNonRoot: new(true)}, image: "gone", err: "the image is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod("web")
			p.Spec.SecurityContext, p.Spec.Containers[0].SecurityContext = test.pod, test.of
			run := fullRun(p)
			run.ImageRef = test.image
			got, err := r.containerSecurity(t.Context(), &run)
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
			case err != nil:
				t.Error(err)
			case !test.check(got):
				t.Errorf("security context %v", got)
			}
		})
	}
}

func TestSandboxSecurity(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	p.Spec.SecurityContext = &v1.PodSecurityContext{RunAsUser: new(int64(1)), RunAsGroup: new(int64(2)), FSGroup: new(int64(3))}
	p.Spec.Containers[0].SecurityContext = &v1.SecurityContext{Privileged: new(true)}
	got := sandboxSecurity(p)
	if got.RunAsUser.Value != 1 || got.RunAsGroup.Value != 2 || got.SupplementalGroups[0] != 3 || !got.Privileged ||
		got.Seccomp.ProfileType != runtimeapi.SecurityProfile_RuntimeDefault {
		t.Errorf("security context %v", got)
	}
}
