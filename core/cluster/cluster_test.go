package cluster

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
)

// An outage is logged once for each reason, in whatever order the reasons come.
func TestTrouble(t *testing.T) {
	t.Parallel()
	reset := func(port int) error {
		return fmt.Errorf("API server: %w", &net.OpError{
			Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: port}, Err: syscall.ECONNRESET,
		})
	}
	for name, test := range map[string]struct {
		notes []error
		warn  int
		info  int
	}{
		"no failure":                   {[]error{nil, nil}, 0, 0},
		"one failure":                  {[]error{reset(1), nil, nil}, 1, 1},
		"another connection":           {[]error{reset(1), reset(2)}, 1, 0},
		"another reason, and back":     {[]error{reset(1), io.EOF, reset(2), io.EOF}, 2, 0},
		"a failure after the last one": {[]error{io.EOF, nil, io.EOF}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out lines
			problems := &trouble{log: slog.New(slog.NewTextHandler(&out, nil)), what: "lease"}
			for _, err := range test.notes {
				problems.note(err)
			}
			if warn, info := out.containing("level=WARN"), out.containing("level=INFO"); warn != test.warn || info != test.info {
				t.Errorf("logged:\n%s", strings.Join(out.all, "\n"))
			}
		})
	}
}
