package runtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestASandboxHasThePodsSysctls(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	p.Spec.SecurityContext = &v1.PodSecurityContext{Sysctls: []v1.Sysctl{
		{Name: "net.ipv4.tcp_syncookies", Value: "0"},
		{Name: "net/ipv4/conf/eth0.100/rp_filter", Value: "1"},
		{Name: "kernel/shm_rmid_forced", Value: ""},
	}}
	run := sandboxRun(p)
	config, _, err := plainRuntime().sandboxConfig(&run)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"net.ipv4.tcp_syncookies": "0", "net.ipv4.conf.eth0/100.rp_filter": "1", "kernel.shm_rmid_forced": ""}
	if d := cmp.Diff(want, config.GetLinux().GetSysctls()); d != "" {
		t.Errorf("sysctls (-want +got):\n%s", d)
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
			config, err := plainRuntime().containerConfig(&run)
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
