package mux

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// nowhere is a Documents that keeps nothing.
type nowhere struct{}

func (nowhere) Apply([]state.Record, []state.DocumentID) error { return nil }
func (nowhere) LoadAll() ([]state.Record, []error)             { return nil, nil }

// BenchmarkOneChange changes the image of one pod among many. Its cost does not depend on the
// number of pods.
func BenchmarkOneChange(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m := runFor(b)
			sink, err := m.Sink("api")
			if err != nil {
				b.Fatal(err)
			}
			all := many(n, "web:1")
			if err := sink.Replace(b.Context(), all); err != nil {
				b.Fatal(err)
			}
			<-m.Updates()
			versions := [2][]api.Document{many(n, "web:2"), many(n, "web:1")}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				d := versions[i/n%2][i%n]
				d.Version = strconv.Itoa(i)
				i++
				if err := sink.Apply(b.Context(), []api.Document{d}, nil); err != nil {
					b.Fatal(err)
				}
				<-m.Updates()
			}
		})
	}
}

// BenchmarkChain delivers documents each of which claims the UID of the next one. The last
// document claims the UID of another source's pod, so all are refused.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{1000, 8000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m := runFor(b)
			static, fleet := chain(n, 0), chain(n, 1)
			deliver := func(name string, all []api.Document) {
				sink, err := m.Sink(name)
				if err != nil {
					b.Fatal(err)
				}
				if err := sink.Replace(b.Context(), all); err != nil {
					b.Fatal(err)
				}
				for len(m.Updates()) > 0 {
					<-m.Updates()
				}
			}
			deliver("api", chain(1, n))
			for b.Loop() {
				deliver("static", static)
				deliver("static", fleet)
			}
		})
	}
}

// chain returns n documents. The UID of each is its index plus shift.
func chain(n, shift int) []api.Document {
	all := make([]api.Document, n)
	for i := range all {
		name := fmt.Sprintf("web-%d", i)
		if n == 1 {
			name = "other"
		}
		all[i] = good("default/"+name, name, types.UID(strconv.Itoa(i+shift)))
		all[i].Version = strconv.Itoa(shift)
	}
	return all
}

// BenchmarkFirstSnapshot delivers the first snapshot of a source, with ten thousand pods.
func BenchmarkFirstSnapshot(b *testing.B) {
	all := many(10_000, "web:1")
	b.ReportAllocs()
	for b.Loop() {
		m := runFor(b)
		sink, err := m.Sink("api")
		if err != nil {
			b.Fatal(err)
		}
		if err := sink.Replace(b.Context(), all); err != nil {
			b.Fatal(err)
		}
		<-m.Updates()
	}
}

func runFor(b *testing.B) *Mux {
	b.Helper()
	m := New(Config{
		Sources:   []Source{{Name: "static", Kind: "file"}, {Name: "fleet", Kind: "http"}, {Name: "api", Kind: "api"}},
		Documents: nowhere{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.Run(ctx)
	}()
	b.Cleanup(func() {
		cancel()
		<-ended
	})
	return m
}

func many(n int, img string) []api.Document {
	all := make([]api.Document, n)
	for i := range all {
		name := fmt.Sprint("web-", i)
		all[i] = good("default/"+name, name, types.UID("uid-"+name), image(img))
	}
	return all
}
