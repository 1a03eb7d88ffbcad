package sysctl

import (
	"context"
	_ "unsafe" // for go:linkname

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	"k8s.io/kubernetes/pkg/security/apparmor"
	libapparmor "k8s.io/kubernetes/third_party/forked/libcontainer/apparmor"
)

//go:linkname getSafeSysctlAllowlist k8s.io/kubernetes/pkg/kubelet/sysctl.getSafeSysctlAllowlist
func getSafeSysctlAllowlist(ctx context.Context, getVersion func() (*version.Version, error)) []string

//go:linkname appArmorEnabled k8s.io/kubernetes/third_party/forked/libcontainer/apparmor.appArmorEnabled
var appArmorEnabled bool

// sysctlsOf returns a kubelet's check of sysctls on a kernel; kernel is nil if it is unknown.
func sysctlsOf(kernel *version.Version, unsafe []string) (lifecycle.PodAdmitHandler, error) {
	quiet := klog.NewContext(context.Background(), logr.Discard())
	safe := getSafeSysctlAllowlist(quiet, func() (*version.Version, error) {
		if kernel == nil {
			return nil, context.Canceled
		}
		return kernel, nil
	})
	return sysctl.NewAllowlist(append(safe, unsafe...))
}

// appArmorOf returns a kubelet's check on a host with or without AppArmor.
func appArmorOf(enabled bool) lifecycle.PodAdmitHandler {
	libapparmor.IsEnabled() // looks only once
	appArmorEnabled = enabled
	return lifecycle.NewAppArmorAdmitHandler(apparmor.NewValidator())
}

func asks(h lifecycle.PodAdmitHandler, p *v1.Pod) lifecycle.PodAdmitResult {
	return h.Admit(&lifecycle.PodAdmitAttributes{Pod: p})
}
