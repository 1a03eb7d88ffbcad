package wasm

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

var testTime = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// testLog is a logger's output that may be read while it is written.
type testLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *testLog) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func testEngine(tb testing.TB) (*Engine, *testLog) {
	tb.Helper()
	log := &testLog{}
	e, err := NewEngine(tb.TempDir()+"/cache", log.logger(slog.LevelDebug))
	if err != nil {
		tb.Fatal(err)
	}
	return e, log
}

func testOptions() Options {
	return Options{Policy: "test", Hooks: []string{"admit"}, MemoryPages: 4, OutputBytes: 64 << 10, Node: "node-1"}
}

// load loads a plugin that is closed with the test.
func load(tb testing.TB, binary []byte, change ...func(*Options)) (*Plugin, *testLog) {
	tb.Helper()
	e, log := testEngine(tb)
	o := testOptions()
	for _, c := range change {
		c(&o)
	}
	p, err := e.Load(tb.Context(), binary, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p, log
}

func question(p *v1.Pod) *Request {
	return &Request{Time: testTime, Question: &pod.Question{
		Op: pod.Add, Pod: p, Origin: pod.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
	}}
}

func testPod(images ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: map[string]string{"app": "web"}}}
	for _, image := range images {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "c", Image: image})
	}
	return p
}

func admit(tb testing.TB, p *Plugin, images ...string) Result {
	tb.Helper()
	result, err := p.Admit(tb.Context(), question(testPod(images...)))
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

// admitFailure is the failure of a call that must fail.
func admitFailure(tb testing.TB, p *Plugin, images ...string) *Failure {
	tb.Helper()
	result, err := p.Admit(context.Background(), question(testPod(images...)))
	if err == nil {
		tb.Fatalf("answered %+v, want a failure", result)
	}
	failure, ok := errors.AsType[*Failure](err)
	if !ok {
		tb.Fatalf("error %v of type %T, want a *Failure", err, err)
	}
	return failure
}

// memoryAfterAdmit is a part of the guest's memory as its hook left it, before
// it is put back.
func memoryAfterAdmit(t *testing.T, p *Plugin, address, length uint32) []byte {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.instance
	p.begin(t.Context(), &call{now: testTime, seed: p.callSeed})
	defer p.finish()
	if err := p.run(i, i.admit); err != nil {
		t.Fatal(err)
	}
	view, ok := i.memory.Read(address, length)
	if !ok {
		t.Fatalf("no memory at %d", address)
	}
	view = bytes.Clone(view)
	p.reset(t.Context())
	return view
}
