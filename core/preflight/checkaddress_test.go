package preflight

import (
	"strings"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.expect(t, checkAddress(n.Cfg), []string{}...)
	n.Cfg.Cluster.NodeIP = "127.0.0.1" // an address that every machine has
	n.expect(t, checkAddress(n.Cfg), []string{}...)
	n.Cfg.Cluster.NodeIP = "192.0.2.9"
	got := checkAddress(n.Cfg)
	if len(got) != 1 {
		t.Fatalf("findings %v", got)
	}
	const want = "no interface of this machine has 192.0.2.9; "
	if f := got[0]; f.Level != LevelFail || f.Subject != "node_ip 192.0.2.9" || !strings.HasPrefix(f.Message, want) {
		t.Errorf("finding %v, want %s", f, want)
	}
}
