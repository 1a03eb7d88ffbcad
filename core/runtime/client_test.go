package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
)

func TestDialRefusesWhatIsNoSocket(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"", "run/x.sock", "tcp://127.0.0.1:1", "unix://run/x.sock", "unix:/run/x.sock"} {
		if _, err := Dial(endpoint, 0); err == nil {
			t.Errorf("endpoint %q is taken", endpoint)
		} else {
			expectError(t, err, "unix:///path/to/socket")
		}
	}
}

func dial(t *testing.T, endpoint string, timeout time.Duration) *Client {
	t.Helper()
	c, err := Dial(endpoint, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestDialTakesABarePath(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint()[len("unix://"):], 0)
	mustEqual(t, "endpoint", cri.Endpoint(), c.Endpoint())
	v, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "version", Version{Name: "fakecri", Version: "1.0.0", APIVersion: "v1"}, v)
}

func TestMissingRuntimeIsNamed(t *testing.T) {
	t.Parallel()
	endpoint := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	_, err := dial(t, endpoint, 0).Version(t.Context())
	expectError(t, err, "container runtime at "+endpoint+" does not answer: dial unix", "no such file or directory", "start it, or mend its endpoint")
	if !interrupted(err) {
		t.Error("a runtime that is away says something about what was asked for")
	}
}

func TestClientRecoversByItself(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	if _, err := c.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	cri.Stop()
	if _, err := c.Version(t.Context()); err == nil {
		t.Fatal("a runtime that is dead answers")
	}
	time.Sleep(3 * time.Second) // long enough for the back-off to grow to its most
	if err := cri.Serve(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := c.Version(t.Context()); err == nil {
			return
		} else if time.Since(began) > 3*time.Second {
			t.Fatalf("3 s after the runtime came back: %v", err)
		}
	}
}

func TestRuntimeThatDiesDuringACall(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	asked := make(chan struct{})
	cri.Before("Version", func(ctx context.Context, _ any) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	})
	var killed sync.WaitGroup
	killed.Go(func() { <-asked; cri.Stop() })
	_, err := c.Version(t.Context())
	killed.Wait()
	expectError(t, err, "container runtime at "+cri.Endpoint()+" does not answer")
	if !interrupted(err) {
		t.Error("the call's failure is taken for the runtime's answer")
	}
}

func TestErrorsAreTheRuntimesOwnWords(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	cri.Fail("Version", status.Error(codes.Unavailable, "registry answered 503"))
	_, err := c.Version(t.Context())
	mustEqual(t, "error", "ask the runtime's version: registry answered 503", err.Error())
	if interrupted(err) {
		t.Error("an answer with the code Unavailable is taken for a runtime that is away")
	}
}

func TestCallThatTakesTooLong(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 50*time.Millisecond)
	cri.Delay("Version", time.Minute)
	_, err := c.Version(t.Context())
	expectError(t, err, cri.Endpoint()+" did not answer Version within ")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not context.DeadlineExceeded", err)
	}
}

func TestCallerThatGivesUp(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cri.Before("Version", func(ctx context.Context, _ any) error { cancel(); <-ctx.Done(); return ctx.Err() })
	_, err := c.Version(ctx)
	if !errors.Is(err, context.Canceled) || !interrupted(err) {
		t.Errorf("%v is not context.Canceled", err)
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		request any
		want    time.Duration
	}{
		"an ordinary call":                   {&runtimeapi.CreateContainerRequest{}, 2 * time.Minute},
		"RunPodSandbox has twice the time":   {&runtimeapi.RunPodSandboxRequest{}, 4 * time.Minute},
		"StopContainer has the grace beside": {&runtimeapi.StopContainerRequest{Timeout: 30}, 2*time.Minute + 30*time.Second},
		"PullImage has no limit":             {&runtimeapi.PullImageRequest{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustEqual(t, "deadline", tc.want, deadline(tc.request, DefaultTimeout))
		})
	}
}

func TestLargeAnswersArrive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("large")
	p.Annotations = map[string]string{"large": string(make([]byte, 5<<20))}
	r.runSandbox(t, p)
	if _, err := r.ListPods(t.Context()); err != nil {
		t.Errorf("an answer of 5 MiB: %v", err)
	}
}

func TestHowLongACallMayTakeMayChange(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	c := dial(t, cri.Endpoint(), time.Minute)
	left := make(chan time.Duration, 1)
	cri.Before("Version", func(ctx context.Context, _ any) error {
		deadline, _ := ctx.Deadline()
		left <- time.Until(deadline)
		return nil
	})
	for _, limit := range []time.Duration{time.Minute, time.Hour, 10 * time.Second} {
		c.SetTimeout(limit)
		if _, err := c.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got > limit || got < limit-5*time.Second {
			t.Errorf("a call may take %s, want %s", got, limit)
		}
	}
}
