package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// pollPeriod is the time between two polls, and unhealthyPeriod is that time while the runtime
	// or its network is not ready.
	pollPeriod      = 5 * time.Second
	unhealthyPeriod = time.Second
	// maxSilence is how old the last successful answer may be, and how long a poll may take.
	maxSilence = 30 * time.Second
)

// Health determines whether the runtime is healthy, by polling it.
type Health struct {
	endpoint string
	poll     func(context.Context) (*runtimeapi.StatusResponse, error)
	features func(Features)
	// driver asks the runtime for its cgroup driver; nil if it is not needed.
	driver func(context.Context) (string, error)
	logger *slog.Logger
	now    func() time.Time

	// named is the last answer of driver, and asked whether there is one that holds. Only Run uses them.
	named string
	asked bool

	mu         sync.Mutex
	lastGood   time.Time
	runtimeErr error
	networkErr error
}

// NewHealth returns the health of a runtime, which is unknown until Run has polled it. features is
// called with the runtime's features at each answer, before the runtime counts as healthy; it must
// not call the Health.
func NewHealth(client *Client, features func(Features), logger *slog.Logger, now func() time.Time) *Health {
	s := newHealth(client.endpoint, features, logger, now, func(ctx context.Context) (*runtimeapi.StatusResponse, error) {
		return client.runtime.Status(ctx, &runtimeapi.StatusRequest{})
	})
	s.driver = client.CgroupDriver
	return s
}

func newHealth(endpoint string, features func(Features), logger *slog.Logger, now func() time.Time, poll func(context.Context) (*runtimeapi.StatusResponse, error)) *Health {
	return &Health{
		endpoint:   endpoint,
		poll:       poll,
		features:   features,
		logger:     logger,
		now:        now,
		runtimeErr: fmt.Errorf("container runtime at %s has not been asked yet; waiting", endpoint),
		networkErr: errors.New("network is not ready: the runtime has not been asked yet"),
	}
}

// Features are the optional features of a runtime.
type Features struct {
	// StrictGroups is true if the runtime can leave out the groups that a user has in the image
	// (supplementalGroupsPolicy Strict).
	StrictGroups bool
	Handlers     []HandlerFeatures
	// CgroupDriver is the cgroup driver, "cgroupfs" or "systemd"; empty if it is not known.
	CgroupDriver string
}

// HandlerFeatures are the features of one runtime handler. The name of the default handler is
// empty.
type HandlerFeatures struct {
	Name                              string
	RecursiveReadOnly, UserNamespaces bool
}

func featuresOf(answer *runtimeapi.StatusResponse) Features {
	f := Features{StrictGroups: answer.GetFeatures().GetSupplementalGroupsPolicy()}
	for _, h := range answer.GetRuntimeHandlers() {
		f.Handlers = append(f.Handlers, HandlerFeatures{
			Name: h.GetName(), RecursiveReadOnly: h.GetFeatures().GetRecursiveReadOnlyMounts(), UserNamespaces: h.GetFeatures().GetUserNamespaces(),
		})
	}
	return f
}

// Run polls until ctx is done: at once, then every 5 s, or every second while the runtime or its
// network is not ready.
func (s *Health) Run(ctx context.Context) {
	for {
		s.pollOnce(ctx)
		period := pollPeriod
		if s.Healthy() != nil || s.NetworkReady() != nil {
			period = unhealthyPeriod
		}
		timer := time.NewTimer(period)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Healthy returns why the runtime cannot be used, nil if it can. A failed poll makes it unhealthy
// at once, a poll that hangs after 30 s.
func (s *Health) Healthy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runtimeErr != nil {
		return s.runtimeErr
	}
	if silence := s.now().Sub(s.lastGood); silence > maxSilence {
		return fmt.Errorf("container runtime at %s does not answer: nothing heard for %s; waiting", s.endpoint, silence.Round(time.Second))
	}
	return nil
}

// NetworkReady returns why pods cannot have a network of their own, nil if they can.
func (s *Health) NetworkReady() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.networkErr
}

// pollOnce polls once. A failed poll does not change the network's state.
func (s *Health) pollOnce(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, maxSilence)
	defer cancel()
	whole, err := s.poll(limited)
	if ctx.Err() != nil {
		return
	}
	answer := whole.GetStatus()
	if err == nil {
		f := featuresOf(whole)
		f.CgroupDriver = s.cgroupDriver(limited)
		s.features(f)
	} else {
		s.asked = false // it may come back with another configuration
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	before := [2]bool{s.runtimeErr == nil, s.networkErr == nil}
	s.runtimeErr = s.runtimeError(answer, err)
	if err == nil {
		s.networkErr = nil
		if unmet := unmetCondition(answer, runtimeapi.NetworkReady); unmet != "" {
			s.networkErr = fmt.Errorf("network is not ready: %s", unmet)
		}
	}
	if s.runtimeErr == nil {
		s.lastGood = s.now()
	}
	if before != [2]bool{s.runtimeErr == nil, s.networkErr == nil} {
		s.logger.Info("container runtime changed state", "endpoint", s.endpoint, "runtime", readyOr(s.runtimeErr), "network", readyOr(s.networkErr))
	}
}

// cgroupDriver returns the runtime's cgroup driver. It asks once after each time that the runtime was
// away.
func (s *Health) cgroupDriver(ctx context.Context) string {
	if s.driver != nil && !s.asked {
		if named, err := s.driver(ctx); err == nil {
			s.named, s.asked = named, true
		}
	}
	return s.named
}

func (s *Health) runtimeError(answer *runtimeapi.RuntimeStatus, err error) error {
	if err != nil {
		return fmt.Errorf("%w; waiting", err)
	}
	if unmet := unmetCondition(answer, runtimeapi.RuntimeReady); unmet != "" {
		return fmt.Errorf("container runtime at %s is not ready: %s; waiting", s.endpoint, unmet)
	}
	return nil
}

// unmetCondition returns why a condition does not hold, "" if it does.
func unmetCondition(answer *runtimeapi.RuntimeStatus, kind string) string {
	for _, c := range answer.GetConditions() {
		switch {
		case c.GetType() != kind:
		case c.GetStatus():
			return ""
		default:
			return fmt.Sprintf("%s: %s", c.GetReason(), c.GetMessage())
		}
	}
	return "the runtime does not report " + kind
}

func readyOr(err error) string {
	if err == nil {
		return "ready"
	}
	return err.Error()
}
