package fakecri

import (
	"path"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// maxWaiting is how many events may wait for a reader; further events are lost.
	maxWaiting = 10000
	// settlePeriod is how often an open stream of events checks which programs have
	// exited.
	settlePeriod = 5 * time.Millisecond
)

// listener is one open stream of events.
type listener struct {
	events chan *runtimeapi.ContainerEventResponse
	// broken is closed when the stream breaks.
	broken chan struct{}
}

// GetContainerEvents streams events from now on.
func (s runtimeService) GetContainerEvents(_ *runtimeapi.GetEventsRequest, stream grpc.ServerStreamingServer[runtimeapi.ContainerEventResponse]) error {
	l := &listener{make(chan *runtimeapi.ContainerEventResponse, maxWaiting), make(chan struct{})}
	s.mu.Lock()
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listeners = slices.DeleteFunc(s.listeners, func(o *listener) bool { return o == l })
	}()
	tick := time.NewTicker(settlePeriod)
	defer tick.Stop()
	for {
		select {
		case e := <-l.events:
			if err := stream.Send(e); err != nil {
				return err
			}
		case <-tick.C:
			s.settleAll()
		case <-l.broken:
			return status.Error(codes.Unavailable, "the test breaks the stream of events")
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// Listeners returns the number of open streams of events.
func (s *Server) Listeners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners)
}

// BreakEvents ends all open streams of events with an error. To refuse new
// streams, or to make the call unimplemented, use Fail with "GetContainerEvents".
func (s *Server) BreakEvents() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listeners {
		close(l.broken)
	}
	s.listeners = nil
}

// MuteEvents makes the streams of events send nothing while they stay open, as
// when one hanging reader blocks all others.
func (s *Server) MuteEvents(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted = mute
}

func (s *Server) settleAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.containers {
		s.settle(c)
	}
}

// emit sends an event about box or one of its containers. The lock is held.
func (s *Server) emit(box *sandbox, id string, kind runtimeapi.ContainerEventType) {
	if s.muted || len(s.listeners) == 0 {
		return
	}
	event := &runtimeapi.ContainerEventResponse{ContainerId: id, ContainerEventType: kind, CreatedAt: s.now().UnixNano()}
	if s.sandboxes[box.id] == box {
		event.PodSandboxStatus = box.status()
	}
	for _, c := range s.containers {
		if c.sandbox == box {
			event.ContainersStatuses = append(event.ContainersStatuses, c.status())
		}
	}
	for _, l := range s.listeners {
		select {
		case l.events <- event:
		default:
		}
	}
}

func (s *Server) interceptStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := s.before(stream.Context(), path.Base(info.FullMethod), nil); err != nil {
		return err
	}
	return handler(server, stream)
}
