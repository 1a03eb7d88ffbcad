package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/wardlet/wardlet/core/strict"
)

// Metrics says where the agent's metrics are, beside its own socket.
type Metrics struct {
	// Listen is an IP address of this machine's own, with a port, where metrics are
	// answered to everybody who asks; empty for nowhere.
	Listen string `toml:"listen"`
}

func (m *Metrics) check(report strict.Report) {
	if m.Listen == "" {
		return
	}
	if err := checkListen(m.Listen, "127.0.0.1:9095"); err != nil {
		report("metrics.listen", "%v", err)
	}
}

// checkListen wants an address at which only this machine can ask: there is no
// login. It is no name, for nothing is looked up when the agent starts.
func checkListen(address, example string) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil && strings.HasPrefix(address, "localhost:"):
		return fmt.Errorf("want an IP address and a port, no name, found %q; write %q", address, "127.0.0.1"+strings.TrimPrefix(address, "localhost"))
	case err != nil:
		return fmt.Errorf("want an IP address and a port, for example %q, found %.80q", example, address)
	case at.Port() == 0:
		return fmt.Errorf("want a port between 1 and 65535, found %q", address)
	case !at.Addr().Unmap().IsLoopback() || at.Addr().Zone() != "":
		return fmt.Errorf("%s is not an address of this machine's own (127.0.0.0/8 or ::1): it is served without a login; "+
			"to have it read from elsewhere, put a proxy that asks for one before %s", at.Addr(), example)
	}
	return nil
}
