package criconfig

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestContainerSecurity(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	b.imageUser = func(_ context.Context, ref string) (int64, string, error) {
		switch ref {
		case "named:1":
			return 0, "app", nil
		case "numbered:1":
			return 7, "", nil
		case "root:1":
			return 0, "", nil
		}
		return 0, "", errors.New("the image is gone")
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
				return c.RunAsUser.Value == 3 && c.RunAsGroup.Value == 2 && c.Seccomp.LocalhostRef == b.config.Layout.SeccompDir()+"/a/b.json"
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
			got, err := b.containerSecurity(t.Context(), &run)
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

func TestAContainerHasItsAppArmorProfile(t *testing.T) {
	t.Parallel()
	local := &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("mine")}
	for name, tc := range map[string]struct {
		profile *v1.AppArmorProfile
		want    *runtimeapi.SecurityProfile
		old     string
		err     string
	}{
		"nothing is said":       {},
		"the runtime's":         {&v1.AppArmorProfile{Type: v1.AppArmorProfileTypeRuntimeDefault}, &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}, "runtime/default", ""},
		"none":                  {&v1.AppArmorProfile{Type: v1.AppArmorProfileTypeUnconfined}, &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}, "unconfined", ""},
		"one that is loaded":    {local, &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: "mine"}, "localhost/mine", ""},
		"one without a name":    {&v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost}, nil, "", `container "app": the AppArmor profile has no name`},
		"one of another system": {&v1.AppArmorProfile{Type: "Mine"}, nil, "", `container "app": unknown type "Mine" of an AppArmor profile`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fullPod()
			p.Spec.SecurityContext = &v1.PodSecurityContext{AppArmorProfile: tc.profile}
			run := fullRun(p)
			config, err := plainBuilder().Container(t.Context(), &run, nil)
			if tc.err != "" {
				expectError(t, err, tc.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			is := config.GetLinux().GetSecurityContext()
			if d := cmp.Diff(string(asJSON(t, tc.want)), string(asJSON(t, is.GetApparmor()))); d != "" {
				t.Errorf("profile (-want +got):\n%s", d)
			}
			mustEqual(t, "in the form of older runtimes", tc.old, is.GetApparmorProfile()) //nolint:staticcheck // that is the form
		})
	}
}
