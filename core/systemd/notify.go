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

// Notifier tells systemd how the agent is: it sends one datagram for each message
// to the socket that systemd named. A nil Notifier sends nothing. Its methods may
// be called from any goroutine.
type Notifier struct {
	// deliver hands over one message.
	deliver func(message string) error
	// interval is how often systemd wants a sign of life, zero for never.
	interval time.Duration

	mu sync.Mutex
	// state is what systemd was told last, status the text beside it.
	state  string
	status string
	// reloadOver: what systemd was told is reloading has ended.
	reloadOver bool
}

// The states of the agent that systemd knows; empty before the first message.
const (
	stateReady     = "READY=1"
	stateReloading = "RELOADING=1"
	stateStopping  = "STOPPING=1"
)

// New returns a Notifier for the socket in the environment of a service of
// Type=notify, nil if there is none. With an error about the watchdog it returns a
// Notifier that sends no signs of life.
func New(lookup func(string) (string, bool)) (*Notifier, error) {
	socket, _ := lookup("NOTIFY_SOCKET")
	if socket == "" {
		return nil, nil
	}
	if socket[0] != '/' && socket[0] != '@' || len(socket) < 2 {
		return nil, fmt.Errorf("NOTIFY_SOCKET is %q, which is neither a path nor an abstract socket", socket)
	}
	n := &Notifier{deliver: func(message string) error { return datagram(socket, message) }}
	// Where a process is named it must be this one.
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

// maxWatchdog is more than anybody wants to wait for a sign of life.
const maxWatchdog = 365 * 24 * time.Hour

// Ready says that the agent does its work, with a text for people.
func (n *Notifier) Ready(status string) error {
	return n.enter(stateReady, status, func(before string) bool { return before == "" || before == stateReloading })
}

// Reloading says that the configuration is being read again, until ready is called.
func (n *Notifier) Reloading() error {
	n.setReloadOver(false)
	return n.enter(stateReloading, "", func(before string) bool { return before == stateReady })
}

// Reloaded ends reloading. If it fails, retell is to be called until it does not:
// systemd would wait for ever.
func (n *Notifier) Reloaded() error {
	n.setReloadOver(true)
	return n.retell()
}

// retell tells the end of a reload that systemd has not heard of yet.
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

// stopping says that the agent ends, and pods run on.
func (n *Notifier) stopping(status string) error {
	return n.enter(stateStopping, status, func(before string) bool { return before != stateStopping })
}

// enter tells a state, unless it does not follow on the one before.
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
		// By it systemd knows which of several reloads this is.
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

// isReady reports whether systemd was told that the agent does its work.
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

// alive is a sign of life: for a watchdog once the agent is ready; before that it
// puts off the end of the time that a start may take.
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

// send sends one message. The caller holds mu.
func (n *Notifier) send(lines ...string) error {
	if err := n.deliver(strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}

// datagram sends a message to a socket, of which a leading @ says that it is an
// abstract one: the net package takes it so, too.
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

// sendTimeout is how long a manager that does not read may keep the agent waiting.
const sendTimeout = time.Second

// maxStatus is how long a text for people may be, in bytes.
const maxStatus = 512

// monotonic is the clock that systemd compares.
func monotonic() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it is always there
	return time.Duration(ts.Nano())
}
