package fakecri

import (
	"context"
	"path"
	"slices"
	"time"

	"google.golang.org/grpc"
)

// Call is one call to the runtime.
type Call struct {
	// Method is the bare name: "RunPodSandbox".
	Method string
	// Request is the CRI request, nil for a stream; it must not be changed.
	Request any
}

// Hook runs before a call is answered. An error of google.golang.org/grpc/status
// becomes the answer; nil lets the call go on.
type Hook func(ctx context.Context, request any) error

// Before adds a hook for a method; hooks run in the order they were added.
func (s *Server) Before(method string, hook Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks[method] = append(s.hooks[method], hook)
}

// Fail makes every call of a method fail until Clear.
func (s *Server) Fail(method string, err error) {
	s.Before(method, func(context.Context, any) error { return err })
}

// FailTimes makes the next n calls of a method fail.
func (s *Server) FailTimes(method string, n int, err error) {
	left := make(chan struct{}, n)
	for range n {
		left <- struct{}{}
	}
	s.Before(method, func(context.Context, any) error {
		select {
		case <-left:
			return err
		default:
			return nil
		}
	})
}

// Delay makes every call of a method wait until Clear, or until the caller
// cancels it.
func (s *Server) Delay(method string, d time.Duration) {
	s.Before(method, func(ctx context.Context, _ any) error { return sleep(ctx, d) })
}

// Clear removes a method's hooks.
func (s *Server) Clear(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.hooks, method)
}

// Calls lists the calls so far, or only those of the named methods if any are
// named.
func (s *Server) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(methods) == 0 {
		return slices.Clone(s.calls)
	}
	var calls []Call
	for _, call := range s.calls {
		if slices.Contains(methods, call.Method) {
			calls = append(calls, call)
		}
	}
	return calls
}

// Count returns how often a method was called.
func (s *Server) Count(method string) int { return len(s.Calls(method)) }

// ForgetCalls clears the record of calls.
func (s *Server) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

func (s *Server) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := s.before(ctx, path.Base(info.FullMethod), request); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// before records a call and runs its hooks.
func (s *Server) before(ctx context.Context, method string, request any) error {
	s.mu.Lock()
	s.calls = append(s.calls, Call{Method: method, Request: request})
	hooks := slices.Clone(s.hooks[method])
	s.mu.Unlock()
	for _, hook := range hooks {
		if err := hook(ctx, request); err != nil {
			return err
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
