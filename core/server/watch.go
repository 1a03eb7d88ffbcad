package server

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

const (
	// maxWatches limits the number of watches, because each keeps the state it last sent.
	maxWatches = 16
	// gatherTime is how long a watch waits for further changes before it sends the first one, because
	// changes on a node often come in groups.
	gatherTime = 50 * time.Millisecond
	// lookPeriod is the interval at which a watch checks for changes without a notification. Not all
	// changes are notified, for example changes in the runtime of a pod that an earlier agent left.
	lookPeriod = 2 * time.Second
	// slowReader is how long a client may take to read what the server sends. Then the connection is
	// closed.
	slowReader = 10 * time.Second
)

// Changes notifies of possible changes.
type Changes interface {
	// Listen returns a channel that receives a value after a change, if the change is later than the
	// call and than the last value. stop ends the notifications.
	Listen() (changed <-chan struct{}, stop func())
}

// isWatch reports whether a request is a watch.
func isWatch(r *http.Request) bool {
	watch, err := strconv.ParseBool(r.FormValue("watch"))
	return err == nil && watch
}

// watch sends a client the result of next, first at once and then whenever the result is not empty,
// until the client disconnects or the server ends. A client that does not read in time gets later
// changes together, or is disconnected: the server buffers nothing but the state that next keeps.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, changes Changes, next func() []api.WatchLine) {
	if s.watches.Add(1) > maxWatches {
		s.watches.Add(-1)
		refuse(w, http.StatusServiceUnavailable, "there are "+strconv.Itoa(maxWatches)+" watches already; end one of them")
		return
	}
	defer s.watches.Add(-1)
	var changed <-chan struct{}
	if changes != nil {
		news, stop := changes.Listen()
		defer stop()
		changed = news
	}
	look := time.NewTicker(lookPeriod)
	defer look.Stop()
	w.Header().Set("Content-Type", "application/json")
	for begun := false; ; begun = true {
		if lines := next(); len(lines) > 0 || !begun {
			if s.tell(w, append(lines, api.WatchLine{Type: api.WatchBookmark})) != nil {
				return // the client has disconnected, or reads too slowly
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ending:
			_ = s.tell(w, []api.WatchLine{{Type: api.WatchError, Object: "the agent is ending"}}) // the end is enough
			return
		case <-changed:
			wait(r, gatherTime)
		case <-look.C:
		}
	}
}

// wait waits for a time, or until the client has disconnected.
func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
	}
}

// tell writes lines and flushes them.
func (s *Server) tell(w http.ResponseWriter, lines []api.WatchLine) error {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(slowReader)); err != nil {
		return err
	}
	out := json.NewEncoder(w)
	for i := range lines {
		if err := out.Encode(&lines[i]); err != nil {
			return err
		}
	}
	return control.Flush()
}

// socketPeriod is the interval at which the file of the socket is checked.
const socketPeriod = 10 * time.Second

// Lasting wraps l, a listener that Listen has opened. It creates the file of the socket again if
// the file was removed.
func Lasting(l net.Listener, socket string, log *slog.Logger) net.Listener {
	return lasting(l, socket, log, socketPeriod)
}

func lasting(l net.Listener, socket string, log *slog.Logger, period time.Duration) net.Listener {
	unix, ok := l.(*net.UnixListener)
	if !ok {
		return l
	}
	made, err := os.Lstat(socket)
	if err != nil {
		made = nil
	}
	return &lastingListener{current: unix, made: made, socket: socket, log: log, period: period}
}

// lastingListener checks the file between calls of Accept.
type lastingListener struct {
	socket string
	log    *slog.Logger
	period time.Duration
	// made is the file of the socket. failing is set after a logged failure to create the file again.
	// Only Accept uses both.
	made    os.FileInfo
	failing bool

	mu      sync.Mutex
	current *net.UnixListener
	closed  bool
}

// Accept implements net.Listener. One goroutine calls it.
func (l *lastingListener) Accept() (net.Conn, error) {
	for {
		current := l.listener()
		if err := current.SetDeadline(time.Now().Add(l.period)); err != nil {
			return nil, err
		}
		conn, err := current.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
		l.renew()
	}
}

// renew opens a new listener if the file is gone.
func (l *lastingListener) renew() {
	if is, err := os.Lstat(l.socket); err == nil && l.made != nil && os.SameFile(is, l.made) {
		return
	}
	next, err := Listen(l.socket)
	if err != nil {
		if !l.failing {
			l.log.Warn("the socket of the agent is gone and cannot be made again", "socket", l.socket, "err", err)
		}
		l.failing = true
		return
	}
	l.failing = false
	l.log.Warn("the socket of the agent was removed, it is made again", "socket", l.socket)
	if made, err := os.Lstat(l.socket); err == nil {
		l.made = made
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		next.Close()
		return
	}
	// The name belongs to the next listener now.
	l.current.SetUnlinkOnClose(false)
	l.current.Close()
	l.current, _ = next.(*net.UnixListener)
}

func (l *lastingListener) listener() *net.UnixListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Close implements net.Listener.
func (l *lastingListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.current.Close()
}

// Addr implements net.Listener.
func (l *lastingListener) Addr() net.Addr { return l.listener().Addr() }
