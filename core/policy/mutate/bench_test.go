package mutate

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func BenchmarkApply(b *testing.B) {
	for name, p := range map[string]*v1.Pod{"static": staticPod(b), "api": apiPod(b)} {
		r := Reach{Paths: []string{"/spec/containers/*/image", "/metadata/labels"}, API: p.ResourceVersion != "", MutateAPI: true}
		for patch, text := range map[string]string{
			"image":   `[{"op":"replace","path":"/spec/containers/0/image","value":"mirror.example/web:1"}]`,
			"nothing": `[{"op":"test","path":"/spec/containers/0/name","value":"app"}]`,
		} {
			b.Run(name+"/"+patch, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Apply(p, []byte(text), r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
