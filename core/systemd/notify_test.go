package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// manager opens the service manager's end of a notify socket. The function next returns the next
// message.
func manager(t *testing.T, socket string) (next func() string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return func() string {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var message [4096]byte
		n, err := conn.Read(message[:])
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
}

// environment returns a function that looks up variables in a map.
func environment(of map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := of[name]
		return value, ok
	}
}

func notify(t *testing.T, of map[string]string) *Notifier {
	t.Helper()
	n, err := New(environment(of))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAServiceManagerIsToldOfEveryState(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "notify") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, socket := range map[string]string{
		"over a path":             filepath.Join(dir, "s"),
		"over an abstract socket": fmt.Sprintf("@wardlet-test-%d", os.Getpid()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := manager(t, socket)
			n := notify(t, map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())})
			if n.interval != time.Minute {
				t.Errorf("interval %s", n.interval)
			}
			expect := func(err error, want string) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, next()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
			expect(n.says("Starting: x"), "STATUS=Starting: x")
			expect(n.alive(30*time.Second), "EXTEND_TIMEOUT_USEC=30000000")
			expect(n.Ready("Node a"), "READY=1\nSTATUS=Node a")
			expect(n.alive(30*time.Second), "WATCHDOG=1")
			before := monotonic()
			if err := n.Reloading(); err != nil {
				t.Fatal(err)
			}
			head, at, _ := strings.Cut(next(), "\nMONOTONIC_USEC=")
			stamp, err := strconv.ParseInt(at, 10, 64)
			if since := time.Duration(stamp) * time.Microsecond; err != nil || head != "RELOADING=1" || since < before.Truncate(time.Microsecond) || since > monotonic() {
				t.Errorf("got %q at %q, %v", head, at, err)
			}
			expect(n.Reloaded(), "READY=1")
			expect(n.stopping("Stopping"), "STOPPING=1\nSTATUS=Stopping")
		})
	}
}

// recorded returns a notifier, and a function that returns the messages since its last call.
func recorded() (n *Notifier, messages func() []string) {
	var all []string
	n = &Notifier{deliver: func(message string) error {
		all = append(all, message)
		return nil
	}}
	return n, func() []string {
		got := all
		all = nil
		return got
	}
}

func TestWhatAServiceManagerNeedNotHearIsNotSaid(t *testing.T) {
	t.Parallel()
	n, messages := recorded()
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	do(n.Reloading(), n.Reloaded()) // a reload does not complete a start
	do(n.Ready("a"), n.Ready("b"), n.says("a"), n.says("c"), n.says("c"))
	do(n.alive(time.Second)) // there is no watchdog
	do(n.stopping("d"), n.stopping("e"), n.says("f"), n.Ready("g"), n.Reloading())
	want := []string{"READY=1\nSTATUS=a", "STATUS=c", "STOPPING=1\nSTATUS=d"}
	if diff := cmp.Diff(want, messages()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAStatusIsOneLine(t *testing.T) {
	t.Parallel()
	n, messages := recorded()
	if err := n.says("a\nREADY=1\r\x00b\xff" + strings.Repeat("ä", maxStatus)); err != nil {
		t.Fatal(err)
	}
	got := messages()[0]
	if !strings.HasPrefix(got, `STATUS=a\nREADY=1\r\x00b\xffää`) || strings.ContainsAny(got, "\n\r\x00") || len(got) > len("STATUS=")+maxStatus || strings.ToValidUTF8(got, "") != got {
		t.Errorf("%q", got)
	}
}

func TestWhoIsToldTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		of       map[string]string
		none     bool
		interval time.Duration
		err      string
	}{
		"nobody":                         {map[string]string{"WATCHDOG_USEC": "1000000"}, true, 0, ""},
		"without a watchdog":             {map[string]string{"NOTIFY_SOCKET": "/run/x"}, false, 0, ""},
		"with one of any process":        {map[string]string{"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "1500000"}, false, 1500 * time.Millisecond, ""},
		"with one of another process":    {map[string]string{"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "1"}, false, 0, ""},
		"not what is no socket":          {map[string]string{"NOTIFY_SOCKET": "vsock:2:1"}, true, 0, "neither a path nor an abstract socket"},
		"not a time that is none":        {map[string]string{"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "soon"}, true, 0, "no time in microseconds"},
		"not a time that is none yet":    {map[string]string{"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "0"}, true, 0, "no time in microseconds"},
		"not a time that is no more one": {map[string]string{"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "9223372036854775807"}, true, 0, "no time in microseconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := New(environment(tt.of))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || (n == nil) != tt.none || n != nil && n.interval != tt.interval {
				t.Errorf("got %+v, %v", n, err)
			}
		})
	}
}

func TestANotifierOfNobodySaysNothing(t *testing.T) {
	t.Parallel()
	var n *Notifier
	if err := errors.Join(n.Ready("a"), n.says("b"), n.Reloading(), n.Reloaded(), n.alive(time.Second), n.stopping("c")); err != nil {
		t.Error(err)
	}
}

func TestAManagerThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	n := notify(t, map[string]string{"NOTIFY_SOCKET": filepath.Join(t.TempDir(), "gone")})
	if err := n.Ready("a"); err == nil {
		t.Error("no error")
	}
	if n.isReady() {
		t.Error("it counts as told")
	}
}
