package wasm

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	w "github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

// benchPod has an init container and three containers, as many pods do.
func benchPod() *v1.Pod {
	p := testPod("registry.example/shop/web:1.2.3", "registry.example/shop/cache:7", "registry.example/tools/log:2@sha256:0123")
	p.Spec.InitContainers = []v1.Container{{Name: "init", Image: "registry.example/tools/init:1"}}
	p.Labels["app.kubernetes.io/name"] = "web"
	return p
}

func BenchmarkProjection(b *testing.B) {
	for name, paths := range map[string][]string{
		"images": {"object.spec.@containers[*].image"},
		"many": {
			"object.metadata.namespace", "object.metadata.labels", "object.metadata.labels['app.kubernetes.io/name']",
			"object.spec.@containers[*].image", "object.spec.@containers[*].name", "object.spec.@containers[*].securityContext.privileged",
			"object.spec.hostNetwork", "object.spec.@containers[*].ports[*].hostPort", "request.operation", "request.source",
		},
		"json": {"object.spec"},
	} {
		b.Run(name, func(b *testing.B) {
			var p projection
			for _, path := range paths {
				if err := p.declare(path); err != nil {
					b.Fatal(err)
				}
			}
			q := question(benchPod())
			var record []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if record, err = p.write(record[:0], q, "node-1"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(record)), "bytes")
		})
	}
}

func BenchmarkAdmit(b *testing.B) {
	run := func(b *testing.B, p *Plugin) {
		b.Helper()
		q := question(benchPod())
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Admit(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("go", func(b *testing.B) {
		p, _ := loadGuest(b, "")
		run(b, p)
	})
	b.Run("small", func(b *testing.B) {
		p, _ := load(b, w.Denying("object.spec.@containers[*].image", "evil"))
		run(b, p)
	})
}

// BenchmarkLoad loads the Go guest, with its compiled code in the cache and
// without.
func BenchmarkLoad(b *testing.B) {
	binary, err := buildGuest()
	if err != nil {
		b.Fatal(err)
	}
	for _, cold := range []bool{false, true} {
		name := map[bool]string{false: "warm", true: "cold"}[cold]
		b.Run(name, func(b *testing.B) {
			e, _ := testEngine(b)
			o := testOptions()
			o.MemoryPages = 64
			load := func() {
				p, err := e.Load(b.Context(), binary, o)
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
			}
			load() // fills the cache
			for b.Loop() {
				if cold {
					if err := emptyCache(e.cacheDir); err != nil {
						b.Fatal(err)
					}
				}
				load()
			}
		})
	}
}
