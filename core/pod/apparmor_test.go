package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

func TestAppArmorProfile(t *testing.T) {
	t.Parallel()
	profile := func(kind v1.AppArmorProfileType) *v1.AppArmorProfile { return &v1.AppArmorProfile{Type: kind} }
	local := &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("mine")}
	unconfined, byDefault := profile(v1.AppArmorProfileTypeUnconfined), profile(v1.AppArmorProfileTypeRuntimeDefault)
	for name, tc := range map[string]struct {
		container, pod *v1.AppArmorProfile
		annotation     string
		want           *v1.AppArmorProfile
		needs          bool
	}{
		"nothing is said":                           {},
		"a container's own comes first":             {container: local, pod: byDefault, annotation: "unconfined", want: local, needs: true},
		"then the annotation":                       {pod: unconfined, annotation: "runtime/default", want: byDefault, needs: true},
		"with a name":                               {annotation: "localhost/mine", want: local, needs: true},
		"or without":                                {annotation: "unconfined", want: unconfined},
		"an annotation that means nothing":          {pod: byDefault, annotation: "what", want: byDefault, needs: true},
		"then the pod's":                            {pod: byDefault, want: byDefault, needs: true},
		"a pod that is confined by none needs none": {pod: unconfined, want: unconfined},
		"an exception still needs it":               {container: unconfined, pod: byDefault, want: unconfined, needs: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{}
			p.Spec.SecurityContext = &v1.PodSecurityContext{AppArmorProfile: tc.pod}
			p.Spec.Containers = []v1.Container{{Name: "c", SecurityContext: &v1.SecurityContext{AppArmorProfile: tc.container}}}
			if tc.annotation != "" {
				p.Annotations = map[string]string{annotationAppArmor + "c": tc.annotation}
			}
			if d := cmp.Diff(tc.want, AppArmorProfile(p, &p.Spec.Containers[0])); d != "" {
				t.Errorf("profile (-want +got):\n%s", d)
			}
			if got := NeedsAppArmor(p); got != tc.needs {
				t.Errorf("needs AppArmor: %v, want %v", got, tc.needs)
			}
		})
	}
}
