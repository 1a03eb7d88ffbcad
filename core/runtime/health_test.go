package runtime

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// polled has a runtime's answers to polls. A test may change them at any time.
type polled struct {
	mu      sync.Mutex
	runtime bool
	network bool
	err     error
	hangs   bool
	polls   int
}

func (p *polled) set(change func(*polled)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *polled) poll(ctx context.Context) (*runtimeapi.StatusResponse, error) {
	p.mu.Lock()
	p.polls++
	hangs, err := p.hangs, p.err
	answer := &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: p.runtime, Reason: "Broken", Message: "no shim"},
		{Type: runtimeapi.NetworkReady, Status: p.network, Reason: "NoCNI", Message: "no configuration"},
	}}}
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// watch runs body in a bubble, with a Health that polls p.
func watch(t *testing.T, p *polled, body func(s *Health)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newHealth("unix:///run/x.sock", func(Features) {}, slog.New(slog.DiscardHandler), time.Now, p.poll)
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { s.Run(ctx) })
		body(s)
		cancel()
		done.Wait()
	})
}

func expectError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestHealthIsUnknownBeforeTheFirstPoll(t *testing.T) {
	t.Parallel()
	s := newHealth("unix:///run/x.sock", func(Features) {}, slog.New(slog.DiscardHandler), time.Now, nil)
	expectError(t, s.Healthy(), "unix:///run/x.sock", "not been asked yet")
	expectError(t, s.NetworkReady(), "network is not ready")
}

func TestHealthPollsAtOnceAndEvery5Seconds(t *testing.T) {
	t.Parallel()
	p := &polled{runtime: true, network: true}
	watch(t, p, func(s *Health) {
		synctest.Wait()
		if err := errors.Join(s.Healthy(), s.NetworkReady()); err != nil {
			t.Error(err)
		}
		time.Sleep(14 * time.Second)
		synctest.Wait()
		p.set(func(p *polled) { mustEqual(t, "polls in 14 s", 3, p.polls) })
	})
}

func TestHealthOfARuntimeThatFails(t *testing.T) {
	t.Parallel()
	p := &polled{runtime: true, network: true}
	watch(t, p, func(s *Health) {
		synctest.Wait()
		p.set(func(p *polled) {
			p.err = errors.New("container runtime at unix:///run/x.sock does not answer: no such file")
		})
		time.Sleep(5*time.Second + time.Millisecond)
		expectError(t, s.Healthy(), "unix:///run/x.sock does not answer: no such file; waiting")
		if err := s.NetworkReady(); err != nil {
			t.Errorf("a poll that fails says nothing about the network, but: %v", err)
		}
		p.set(func(p *polled) { p.err = nil })
		time.Sleep(time.Second)
		synctest.Wait()
		if err := s.Healthy(); err != nil {
			t.Errorf("a second after the runtime came back: %v", err)
		}
	})
}

func TestHealthOfARuntimeThatHangs(t *testing.T) {
	t.Parallel()
	p := &polled{runtime: true, network: true}
	watch(t, p, func(s *Health) {
		synctest.Wait()
		p.set(func(p *polled) { p.hangs = true })
		time.Sleep(29 * time.Second)
		if err := s.Healthy(); err != nil {
			t.Errorf("29 s after the last good answer: %v", err)
		}
		time.Sleep(2 * time.Second)
		expectError(t, s.Healthy(), "unix:///run/x.sock does not answer: nothing heard for 31s; waiting")
		p.set(func(p *polled) { p.hangs = false })
		time.Sleep(6 * time.Second) // the poll that hangs ends 35 s after the last good one
		synctest.Wait()
		if err := s.Healthy(); err != nil {
			t.Errorf("after it answers again: %v", err)
		}
	})
}

func TestHealthOfConditionsThatDoNotHold(t *testing.T) {
	t.Parallel()
	p := &polled{runtime: false, network: false}
	watch(t, p, func(s *Health) {
		synctest.Wait()
		expectError(t, s.Healthy(), "unix:///run/x.sock is not ready: Broken: no shim; waiting")
		expectError(t, s.NetworkReady(), "network is not ready: NoCNI: no configuration")

		p.set(func(p *polled) { p.runtime = true })
		time.Sleep(time.Second)
		synctest.Wait()
		if err := s.Healthy(); err != nil {
			t.Errorf("only the network is missing: %v", err)
		}
		p.set(func(p *polled) { p.network = true })
		time.Sleep(time.Second)
		synctest.Wait()
		if err := s.NetworkReady(); err != nil {
			t.Errorf("a second after the network came: %v", err)
		}
	})
}

func TestConditionThatIsMissingDoesNotHold(t *testing.T) {
	t.Parallel()
	mustEqual(t, "condition", "the runtime does not report NetworkReady", unmetCondition(&runtimeapi.RuntimeStatus{}, runtimeapi.NetworkReady))
}

// decade is the time by which these tests set the clock.
const decade = 10 * 365 * 24 * time.Hour

// set moves the wall clock of a time forward or back, as when the clock is set. The monotonic
// reading stays. Only the kernel makes such times, so set changes the bits.
func set(t time.Time, by time.Duration) time.Time {
	const secondsAt = 30
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall += uint64(int64(by/time.Second) << secondsAt)
	return t
}

func TestAClockThatIsSetChangesNoDuration(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"forward": decade, "back": -decade} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := time.Now() // in a bubble times have no monotonic reading
			synctest.Test(t, func(t *testing.T) {
				var jump time.Duration
				begun := time.Now()
				now := func() time.Time { return set(started.Add(time.Since(begun)), jump) }
				before := now()

				health := newHealth("unix:///x", func(Features) {}, slog.New(slog.DiscardHandler), now, func(context.Context) (*runtimeapi.StatusResponse, error) {
					return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
						{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
					}}}, nil
				})
				health.pollOnce(t.Context())

				jump = by
				if off := now().Round(0).Sub(before.Round(0)); off != by || now().Sub(before) != 0 {
					t.Fatalf("the clock is %s off, and %s have passed", off, now().Sub(before))
				}
				if err := health.Healthy(); err != nil {
					t.Errorf("the runtime is not well: %v", err)
				}
				time.Sleep(maxSilence + time.Second)
				if health.Healthy() == nil {
					t.Error("a runtime that is silent is well")
				}
			})
		})
	}
}

// The features of a runtime are reported before the runtime is healthy, because the admission of
// pods depends on them.
func TestHealth_features(t *testing.T) {
	t.Parallel()
	var health *Health
	var got []Features
	var healthy []bool
	health = newHealth("unix:///x", func(f Features) {
		got, healthy = append(got, f), append(healthy, health.Healthy() == nil)
	}, slog.New(slog.DiscardHandler), time.Now, func(context.Context) (*runtimeapi.StatusResponse, error) {
		return &runtimeapi.StatusResponse{
			Status:   &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{{Type: runtimeapi.RuntimeReady, Status: true}}},
			Features: &runtimeapi.RuntimeFeatures{SupplementalGroupsPolicy: true},
			RuntimeHandlers: []*runtimeapi.RuntimeHandler{
				{}, {Name: "runc", Features: &runtimeapi.RuntimeHandlerFeatures{RecursiveReadOnlyMounts: true}},
			},
		}, nil
	})
	health.pollOnce(t.Context())
	mustEqual(t, "features", []Features{{StrictGroups: true, Handlers: []HandlerFeatures{{}, {Name: "runc", RecursiveReadOnly: true}}}}, got)
	mustEqual(t, "healthy before that", []bool{false}, healthy)
}
