package compile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// goGuest builds the Go guest of package wasm's tests, once.
var goGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "wardlet-guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "guest.wasm")
	build := exec.Command("go", "build", "-C", "..", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./testdata/guest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// BenchmarkSmallModule measures the cost of a child beside the compilation.
func BenchmarkSmallModule(b *testing.B) {
	f := library(b, b.TempDir()+"/cache")
	n := int32(0)
	for b.Loop() {
		acquire(b, f, small(n)).Release()
		n++
	}
}

func BenchmarkGoGuest(b *testing.B) {
	guest, err := goGuest()
	check(b, err)
	b.Run("child", func(b *testing.B) {
		var last Cost
		for b.Loop() {
			f := library(b, b.TempDir()+"/cache")
			code := acquire(b, f, guest)
			last = code.Cost()
			code.Release()
		}
		report := func(d time.Duration, unit string) { b.ReportMetric(float64(d.Milliseconds()), unit) }
		report(last.CPU, "cpu-ms")
		report(last.LoadCPU, "load-cpu-ms")
		b.ReportMetric(float64(last.Peak>>20), "peak-MiB")
		b.ReportMetric(float64(last.Mapped>>20), "mapped-MiB")
	})
	b.Run("child of the lowest priority", func(b *testing.B) {
		for b.Loop() {
			f := library(b, b.TempDir()+"/cache", func(o *Options) { o.Priority = Lowest })
			acquire(b, f, guest).Release()
		}
	})
	b.Run("in process", func(b *testing.B) {
		for b.Loop() {
			ctx := experimental.WithCompilationWorkers(context.Background(), 1)
			check(b, withCache(ctx, b.TempDir(), config(false), func(r wazero.Runtime) error {
				_, err := r.CompileModule(ctx, guest)
				return err
			}))
		}
	})
	b.Run("cached", func(b *testing.B) {
		f := library(b, b.TempDir()+"/cache")
		acquire(b, f, guest).Release()
		for b.Loop() {
			acquire(b, f, guest).Release()
		}
	})
	b.Run("shared", func(b *testing.B) {
		f := library(b, b.TempDir()+"/cache")
		code := acquire(b, f, guest)
		defer code.Release()
		for b.Loop() {
			acquire(b, f, guest).Release()
		}
	})
}
