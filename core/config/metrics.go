package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/wardlet/wardlet/core/strict"
)

// Metrics configures where metrics are served in addition to the agent's own socket.
type Metrics struct {
	// Listen is a loopback address with a port, where metrics are served to every client; empty for
	// none.
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

// checkListen requires an address that only this machine can reach, because there is no
// authentication. It does not accept a host name, because the agent looks up no names at its start.
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
