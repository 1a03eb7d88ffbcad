package wasm

import (
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func BenchmarkAdmit(b *testing.B) {
	run := func(b *testing.B, p *Plugin) {
		b.Helper()
		q := question(abitest.UsualPod())
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

// BenchmarkAdmitAfterRest measures the first call after a rest: the pages that the plugin has
// written, and those of its code, are released.
func BenchmarkAdmitAfterRest(b *testing.B) {
	p, _ := loadGuest(b, "")
	q := question(abitest.UsualPod())
	for b.Loop() {
		b.StopTimer()
		p.Trim()
		p.Trim()
		b.StartTimer()
		if _, err := p.Admit(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.Reset(b.Context())
		b.StartTimer()
	}
}

// BenchmarkHostCall measures a plugin that calls the same function a thousand times.
func BenchmarkHostCall(b *testing.B) {
	const calls = 1000
	for name, test := range map[string]struct {
		of   w.Import
		args w.Code
	}{
		"log_enabled": {w.LogEnabled, w.I32Const(0)},
		"get":         {w.Get, w.Join(w.I32Const(0), w.I32Const(4096), w.I32Const(1000))},
		"get list":    {w.Get, w.Join(w.I32Const(1), w.I32Const(4096), w.I32Const(1000))},
		"setting":     {w.Setting, w.Join(w.I32Const(2048), w.I32Const(4), w.I32Const(4096), w.I32Const(1000))},
		"json":        {w.JSON, w.Join(w.I32Const(0), w.I32Const(4096), w.I32Const(1000))},
	} {
		b.Run(name, func(b *testing.B) {
			m := w.Plugin(test.of, w.Field)
			m.Data(2048, "name")
			m.Data(512, "object.metadata.name")
			m.Data(600, "object.spec.@containers[*].image")
			m.Init(
				w.I32Const(512), w.I32Const(20), w.Call(1), w.Drop,
				w.I32Const(600), w.I32Const(32), w.Call(1), w.Drop, w.I32Const(0),
			)
			m.Admit(
				w.Loop(
					test.args, w.Call(0), w.Drop,
					w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0), w.LocalGet(0), w.I32Const(calls), w.I32LtU, w.BrIf(0),
				),
				w.I32Const(0),
			)
			p, _ := load(b, m.Bytes(), func(o *Options) { o.Settings = map[string]any{"name": "value"} })
			q := question(abitest.UsualPod())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Admit(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
		})
	}
}

// BenchmarkYield measures a plugin that yields to the host every 50 units of fuel. The result
// includes these units.
func BenchmarkYield(b *testing.B) {
	p, _ := load(b, turning(20_000), func(o *Options) { o.Tenant = "red" })
	p.storms.Store(mostStorms)
	q, yields := question(abitest.UsualPod()), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		result, err := p.Admit(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		yields += result.Extra / yieldFuel
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(yields), "ns/yield")
}

// BenchmarkPages stores in each page of a memory and restores the memory: with few pages,
// which are copied, and with many, which are dropped.
func BenchmarkPages(b *testing.B) {
	for name, size := range map[string]uint32{"copied": 2 << 20, "fresh": 8 << 20} {
		b.Run(name, func(b *testing.B) {
			p, _ := load(b, storing(int32(size), w.I32Const(0)), func(o *Options) { o.MemoryPages = 256 })
			b.ReportAllocs()
			for b.Loop() {
				i, err := p.take(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				for at := uint32(0); at < size; at += hostPage {
					i.memory.WriteByte(at, 1)
				}
				p.give(i, true)
				p.Reset(b.Context())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size/hostPage), "ns/page")
		})
	}
}

// BenchmarkLoad loads the Go guest with and without its compiled code in the cache.
func BenchmarkLoad(b *testing.B) {
	binary, err := buildGuest()
	if err != nil {
		b.Fatal(err)
	}
	o := testOptions()
	o.MemoryPages, o.Fuel = 64, 1<<30
	load := func(b *testing.B, e *Engine) {
		b.Helper()
		p, err := e.Load(b.Context(), binary, o)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("warm", func(b *testing.B) {
		e, _ := testEngine(b)
		load(b, e) // stores the code in the cache
		for b.Loop() {
			load(b, e)
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			e, _ := testEngine(b)
			load(b, e)
		}
	})
}
