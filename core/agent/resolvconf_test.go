package agent

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/status"
)

// TestWatchResolvConf: the node has an event each time that pods cannot have all of its resolver
// configuration, and not while that stays so.
func TestWatchResolvConf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "resolv.conf")
		n := &Node{
			cfg: config.Default(), node: "edge", log: slog.New(slog.DiscardHandler),
			events: status.NewEventBufferPerOwner(10, time.Minute, time.Now, func(string) string { return "" }),
		}
		n.cfg.Runtime.ResolvConf = path
		ctx, cancel := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() { n.watchResolvConf(ctx) })
		servers := func(count int) string { return strings.Repeat("nameserver 192.0.2.1\n", count) }
		for _, step := range []struct {
			content string
			events  int
			says    string
		}{
			{"", 1, "no such file"}, {servers(3), 1, ""}, {servers(4), 2, "left out: 192.0.2.1"}, {servers(4), 2, ""}, {servers(2), 2, ""}, {servers(5), 3, "left out: 192.0.2.1, 192.0.2.1"},
		} {
			if step.content != "" {
				if err := os.WriteFile(path, []byte(step.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(resolvConfPeriod + time.Second)
			synctest.Wait()
			events := n.events.List()
			if len(events) != step.events || !strings.Contains(events[len(events)-1].Message, step.says) {
				t.Errorf("after %q: events %+v, want %d, with %q", step.content, events, step.events, step.says)
			}
		}
		cancel()
		watching.Wait()
	})
}
