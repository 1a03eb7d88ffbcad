package pod

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestIdentityIsTheAnnotationWhereThereIsOneAndNeverLeavesTheNamespace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		annotation string
		want       types.NamespacedName
	}{
		"by name":       {"", types.NamespacedName{Namespace: "shop", Name: "web-1"}},
		"by annotation": {"web", types.NamespacedName{Namespace: "shop", Name: "web"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"}}
			if tc.annotation != "" {
				p.Annotations = map[string]string{AnnotationIdentity: tc.annotation}
			}
			if got := Identity(p); got != tc.want {
				t.Errorf("identity = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPodsOfTheNodeAreStatic(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		annotations map[string]string
		static      bool
		mirror      bool
	}{
		"from a file source":      {map[string]string{AnnotationSource: "static"}, true, false},
		"from the API server":     {map[string]string{AnnotationSource: SourceAPI}, false, false},
		"from nowhere":            {nil, false, false},
		"a picture of a static":   {map[string]string{AnnotationSource: SourceAPI, AnnotationMirror: "abc"}, false, true},
		"a mirror before it came": {map[string]string{AnnotationMirror: ""}, false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			if IsStatic(p) != tc.static || IsMirror(p) != tc.mirror {
				t.Errorf("static %t, mirror %t; want %t, %t", IsStatic(p), IsMirror(p), tc.static, tc.mirror)
			}
		})
	}
}

func TestLayoutIsAKubelets(t *testing.T) {
	t.Parallel()
	l := Layout{PodRoot: "/var/lib/wardlet", LogRoot: "/var/log"}
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}}
	for want, got := range map[string]string{
		"/var/lib/wardlet/pods/u1":                                       l.PodDir(p.UID),
		"/var/lib/wardlet/pods/u1/volumes/kubernetes.io~empty-dir/cache": l.VolumeDir(p.UID, "kubernetes.io/empty-dir", "cache"),
		"/var/lib/wardlet/pods/u1/containers/main":                       l.ContainerDir(p.UID, "main"),
		"/var/lib/wardlet/pods/u1/etc-hosts":                             l.HostsFile(p.UID),
		"/var/log/pods/shop_web_u1":                                      l.LogDir(p),
		"/var/log/containers":                                            l.LogLinksDir(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
