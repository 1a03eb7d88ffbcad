//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// patience bounds every wait of a test; only a failure takes that long.
const patience = 60 * time.Second

// State without events is polled every poll at first, and then less and less often, down to
// every slowPoll: frequent requests to an agent take processor time from the tests that run in
// parallel.
const (
	poll     = 10 * time.Millisecond
	slowPoll = 100 * time.Millisecond
)

// node is a private runtime and the CRI clients of a test.
type node struct {
	*harness.Runtime
	images criapi.ImageServiceClient
}

// startNode starts a runtime for the test. When the test ends the runtime is removed, and nothing
// of it may be left.
func startNode(t *testing.T) node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	runtime, err := harness.StartRuntime(ctx, privateruntime.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopNode(t, runtime) })
	return node{runtime, criapi.NewImageServiceClient(runtime.Connection)}
}

func stopNode(t *testing.T, runtime *harness.Runtime) {
	t.Helper()
	if t.Failed() {
		t.Logf("the end of containerd's log:\n%s", runtime.Log(15))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := runtime.Close(ctx); err != nil {
		t.Error(err)
	}
}

// eventually polls until check returns no error. If check fails for too long, its last error
// fails the test.
func eventually(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	await(t, slowPoll, what, check)
}

// promptly is eventually for timed waits: it polls at the highest rate all the time.
func promptly(t *testing.T, what string, check func(ctx context.Context) error) {
	t.Helper()
	await(t, poll, what, check)
}

func await(t *testing.T, slowest time.Duration, what string, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for pause := poll; ; pause = min(pause*5/4, slowest) {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-time.After(pause):
		}
	}
}

// steadily polls for as long as during; check must never return an error.
func steadily(t *testing.T, during time.Duration, what string, check func(ctx context.Context) error) {
	t.Helper()
	ticker := time.NewTicker(10 * poll)
	defer ticker.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-ticker.C {
		if err := check(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
