package criconfig

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestHostname(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 61)
	for name, tc := range map[string]struct {
		podName string
		spec    v1.PodSpec
		want    string
	}{
		"the pod's name":                           {podName: "web", want: "web"},
		"spec.hostname before the name":            {podName: "web", spec: v1.PodSpec{Hostname: "db"}, want: "db"},
		"hostnameOverride before all":              {podName: "web", spec: v1.PodSpec{Hostname: "db", HostnameOverride: new("db.example.org")}, want: "db.example.org"},
		"none on the node's network":               {podName: "web", spec: v1.PodSpec{HostNetwork: true, Hostname: "db"}, want: ""},
		"63 characters":                            {podName: long + "bbcc", want: long + "bb"},
		"no dash or dot where it was cut":          {podName: long + "-.cc", want: long},
		"a dash elsewhere stays":                   {podName: "a-b", want: "a-b"},
		"exactly 63 characters are left untouched": {podName: long + "bb", want: long + "bb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod(tc.podName)
			p.Spec.Hostname, p.Spec.HostnameOverride, p.Spec.HostNetwork = tc.spec.Hostname, tc.spec.HostnameOverride, tc.spec.HostNetwork
			mustEqual(t, "hostname", tc.want, hostname(p))
		})
	}
}

func TestKernelName(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	b.config.ClusterDomain = "cluster.local"
	p := newPod("web")
	p.Spec.Subdomain = "shop"
	name := func() string {
		t.Helper()
		got, err := b.kernelName(p)
		if err != nil {
			return err.Error()
		}
		return got
	}
	mustEqual(t, "name", "web", name())
	mustEqual(t, "names in the hosts file", "web.shop.default.svc.cluster.local\tweb", b.HostNames(p))
	p.Spec.SetHostnameAsFQDN = new(true)
	mustEqual(t, "name", "web.shop.default.svc.cluster.local", name())
	p.Spec.Hostname = strings.Repeat("a", 40)
	if got := name(); !strings.Contains(got, "more than the 64 characters") {
		t.Errorf("a name that is too long: %s", got)
	}
	p.Spec.Subdomain = ""
	mustEqual(t, "name", p.Spec.Hostname, name())
}
