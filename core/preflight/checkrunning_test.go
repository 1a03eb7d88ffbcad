package preflight

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server"
)

// runVersion runs a local API that answers as an agent of version v, until the test ends.
func (n *located) runVersion(t *testing.T, v api.Version) {
	t.Helper()
	l, err := server.Listen(n.Cfg.Paths.Socket)
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Options{Version: v, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); served.Wait() })
}

func TestCheckRunning(t *testing.T) {
	t.Parallel()
	const subject = "agent at DIR/run/w.sock: "
	for name, test := range map[string]struct {
		prepare func(*testing.T, *located)
		want    string
	}{
		"no agent": {func(*testing.T, *located) {}, "ok " + subject + "not running"},
		"an agent that died": {
			func(t *testing.T, n *located) {
				t.Helper()
				l, err := server.Listen(n.Cfg.Paths.Socket)
				if err != nil {
					t.Fatal(err)
				}
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
			},
			"ok " + subject + "not running",
		},
		"an agent of this version": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.runVersion(t, api.NewVersion("v1.2.3"))
			},
			"ok " + subject + release(api.NewVersion("v1.2.3")) + " runs",
		},
		"an agent of another version": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.runVersion(t, api.Version{Version: "v1.2.2", Revision: "0123456789abcdef"})
			},
			"warn " + subject + "v1.2.2 (0123456789ab) runs, this is " + release(api.NewVersion("v1.2.3")) + "; restart it to run what was checked",
		},
		"a socket that cannot be": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.Write(t, "run", "")
			},
			"warn " + subject + "the agent does not answer at DIR/run/w.sock: dial unix DIR/run/w.sock: connect: not a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			test.prepare(t, n)
			n.expect(t, []Finding{checkRunning(t.Context(), n.Cfg.Paths.Socket, "v1.2.3", DefaultCheckTimeout)}, test.want)
		})
	}
}
