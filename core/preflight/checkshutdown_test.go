package preflight

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/test/fakelogind"
)

func TestCheckShutdown(t *testing.T) {
	t.Parallel()
	logind := fakelogind.Start(t)
	n := newSite(t)
	const subject = "shutdown of the machine: "
	for name, test := range map[string]struct {
		node config.Node
		bus  string
		want []string
	}{
		"not configured":      {config.Node{}, "unix:path=" + n.Dir + "/none", nil},
		"sufficient":          {config.Node{ShutdownGracePeriod: 5 * time.Second}, logind.Address(), []string{"ok " + subject + "it waits up to 5s for pods"}},
		"to be raised":        {config.Node{ShutdownByPriority: []string{"0=30s", "5=1m"}}, logind.Address(), []string{"ok " + subject + "it waits up to 1m30s for pods; systemd-logind allows 5s now, and the agent will raise that in /etc/systemd/logind.conf.d/99-wardlet.conf"}},
		"a node without dbus": {config.Node{ShutdownGracePeriod: 5 * time.Second}, "unix:path=" + n.Dir + "/none", []string{"warn " + subject + "it does not wait for pods: D-Bus cannot be reached: dial unix DIR/none: connect: no such file or directory; shutdown_grace_period and shutdown_by_priority of [node] need systemd-logind: start dbus and systemd-logind, or leave these keys out"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := checkShutdown(t.Context(), &config.Config{Node: test.node}, test.bus, 10*time.Second)
			if len(got)+len(test.want) > 0 {
				n.expect(t, got, test.want...)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(logind.Inhibits); n != 0 {
			t.Errorf("the check took %d locks", n)
		}
	})
}
