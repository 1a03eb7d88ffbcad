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
	// maxWatches bounds the watches at a time. Each keeps what it has told.
	maxWatches = 16
	// gatherTime is how long a watch waits for further changes before it sends what
	// changed: one thing that happens on a node changes several.
	gatherTime = 50 * time.Millisecond
	// lookPeriod is how often a watch looks without being told of a change. Not all
	// that is shown of a pod is known to change: what the runtime shows of one that
	// was left by an earlier agent, for example.
	lookPeriod = 2 * time.Second
	// slowReader is how long a client may take to read what it is sent; then it is
	// cut off.
	slowReader = 10 * time.Second
)

// Changes tells that something may be another than before.
type Changes interface {
	// Listen returns a channel that has a value once something has changed after the
	// call, and after the last value was taken. stop ends it.
	Listen() (changed <-chan struct{}, stop func())
}

// isWatch reports whether a request wants to go on being told of changes.
func isWatch(r *http.Request) bool {
	watch, err := strconv.ParseBool(r.FormValue("watch"))
	return err == nil && watch
}

// watch tells a client what next returns, now and whenever it returns something,
// until the client goes or the server ends. What a client does not read in time
// it gets together with what came later, or it is cut off: nothing is kept for
// it but what next remembers.
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
				return // it has gone, or reads too slowly
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ending:
			_ = s.tell(w, []api.WatchLine{{Type: api.WatchError, Object: "the agent is ending"}}) // the end says it too
			return
		case <-changed:
			wait(r, gatherTime)
		case <-look.C:
		}
	}
}

// wait waits for a time, or until the client has gone.
func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
	}
}

// tell writes lines and sees that they are sent.
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

// socketPeriod is how often it is looked whether the file of the socket is there.
const socketPeriod = 10 * time.Second

// Lasting is l, a listener that Listen has opened, which makes the file of the socket
// again when it was removed.
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

// lastingListener looks for the file between calls of Accept.
type lastingListener struct {
	socket string
	log    *slog.Logger
	period time.Duration
	// made is the file, failing that it could not be made again, which was logged. Both
	// belong to Accept.
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

// renew listens anew where the file is gone.
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
	// The name is the next one's now.
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
