package systemd

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/printable"
)

// Notifier notifies systemd of the agent's state: it sends one datagram for each message to the
// socket that systemd named. A nil Notifier sends nothing. Its methods may be called from any
// goroutine.
type Notifier struct {
	// deliver sends one message.
	deliver func(message string) error
	// interval is the watchdog interval of systemd, zero for no watchdog.
	interval time.Duration

	mu sync.Mutex
	// state is the state in the last message to systemd. status is the text of that message.
	state  string
	status string
	// reloadOver is set when the reload that systemd was notified of has ended.
	reloadOver bool
}

// The states of the agent in messages to systemd; the state is empty before the first message.
const (
	stateReady     = "READY=1"
	stateReloading = "RELOADING=1"
	stateStopping  = "STOPPING=1"
)

// New returns a Notifier for the socket in the environment of a service of Type=notify, nil if
// there is none. If it returns an error about the watchdog, it also returns a Notifier without
// watchdog messages.
func New(lookup func(string) (string, bool)) (*Notifier, error) {
	socket, _ := lookup("NOTIFY_SOCKET")
	if socket == "" {
		return nil, nil
	}
	if socket[0] != '/' && socket[0] != '@' || len(socket) < 2 {
		return nil, fmt.Errorf("NOTIFY_SOCKET is %q, which is neither a path nor an abstract socket", socket)
	}
	n := &Notifier{deliver: func(message string) error { return datagram(socket, message) }}
	// If the environment names a process, it must be this one.
	if pid, ok := lookup("WATCHDOG_PID"); ok && pid != strconv.Itoa(os.Getpid()) {
		return n, nil
	}
	if text, ok := lookup("WATCHDOG_USEC"); ok {
		microseconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || microseconds <= 0 || microseconds > int64(maxWatchdog/time.Microsecond) {
			return n, fmt.Errorf("WATCHDOG_USEC is %q, which is no time in microseconds", text)
		}
		n.interval = time.Duration(microseconds) * time.Microsecond
	}
	return n, nil
}

// maxWatchdog is an upper limit for the watchdog interval, longer than any useful one.
const maxWatchdog = 365 * 24 * time.Hour

// Ready reports that the agent is ready, with a text for people.
func (n *Notifier) Ready(status string) error {
	return n.enter(stateReady, status, func(before string) bool { return before == "" || before == stateReloading })
}

// Reloading reports that the configuration is being read again, until Reloaded is called.
func (n *Notifier) Reloading() error {
	n.setReloadOver(false)
	return n.enter(stateReloading, "", func(before string) bool { return before == stateReady })
}

// Reloaded reports the end of the reload. If it fails, retell must be called until it succeeds,
// because systemd would otherwise wait without limit.
func (n *Notifier) Reloaded() error {
	n.setReloadOver(true)
	return n.retell()
}

// retell reports the end of a reload that has not been reported successfully.
func (n *Notifier) retell() error {
	return n.enter(stateReady, "", func(before string) bool { return before == stateReloading && n.reloadOver })
}

func (n *Notifier) setReloadOver(over bool) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reloadOver = over
}

// stopping reports that the agent ends and pods continue to run.
func (n *Notifier) stopping(status string) error {
	return n.enter(stateStopping, status, func(before string) bool { return before != stateStopping })
}

// enter reports a state if follows accepts the state before.
func (n *Notifier) enter(state, status string, follows func(before string) bool) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !follows(n.state) {
		return nil
	}
	lines := []string{state}
	if state == stateReloading {
		// systemd uses this time to distinguish reloads.
		lines = append(lines, "MONOTONIC_USEC="+strconv.FormatInt(monotonic().Microseconds(), 10))
	}
	if status != "" {
		lines = append(lines, "STATUS="+printable.Short(status, maxStatus-len("…")))
	}
	if err := n.send(lines...); err != nil {
		return err
	}
	if n.state = state; status != "" {
		n.status = status
	}
	return nil
}

// isReady reports whether systemd was notified that the agent is ready.
func (n *Notifier) isReady() bool {
	if n == nil {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state != ""
}

// says changes the text for people.
func (n *Notifier) says(status string) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.status == status || n.state == stateStopping {
		return nil
	}
	if err := n.send("STATUS=" + printable.Short(status, maxStatus-len("…"))); err != nil {
		return err
	}
	n.status = status
	return nil
}

// alive sends a watchdog message once the agent is ready. Before that, it extends the time limit of
// the start.
func (n *Notifier) alive(next time.Duration) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.state == "":
		return n.send("EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(next.Microseconds(), 10))
	case n.interval > 0:
		return n.send("WATCHDOG=1")
	}
	return nil
}

// send sends one message. The caller must hold mu.
func (n *Notifier) send(lines ...string) error {
	if err := n.deliver(strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}

// datagram sends a message to a socket. A leading @ means an abstract socket, as in the net
// package.
func datagram(socket, message string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: socket})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(message))
	return err
}

// sendTimeout limits the wait for a manager that does not read.
const sendTimeout = time.Second

// maxStatus is the maximum length of a text for people, in bytes.
const maxStatus = 512

// monotonic returns the time of the clock that systemd compares.
func monotonic() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it is always there
	return time.Duration(ts.Nano())
}
