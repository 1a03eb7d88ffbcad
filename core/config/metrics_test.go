package config

import "testing"

func TestWhereMetricsAre(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                      "",
		"127.0.0.1:9095":        "",
		"127.3.2.1:1":           "",
		"[::1]:65535":           "",
		"[::ffff:127.0.0.1]:80": "",

		"9095":            `want an IP address and a port, for example "127.0.0.1:9095", found "9095"`,
		":9095":           `want an IP address and a port, for example "127.0.0.1:9095", found ":9095"`,
		"127.0.0.1":       `want an IP address and a port, for example "127.0.0.1:9095", found "127.0.0.1"`,
		"127.0.0.1:":      `want an IP address and a port, for example "127.0.0.1:9095", found "127.0.0.1:"`,
		"127.0.0.1:http":  `want an IP address and a port, for example "127.0.0.1:9095", found "127.0.0.1:http"`,
		"127.0.0.1:70000": `want an IP address and a port, for example "127.0.0.1:9095", found "127.0.0.1:70000"`,
		"127.0.0.1:0":     `want a port between 1 and 65535, found "127.0.0.1:0"`,
		"localhost:9095":  `want an IP address and a port, no name, found "localhost:9095"; write "127.0.0.1:9095"`,
		"node.example:80": `want an IP address and a port, for example "127.0.0.1:9095", found "node.example:80"`,
		"0.0.0.0:9095":    `0.0.0.0 is not an address of this machine's own (127.0.0.0/8 or ::1): it is served without a login`,
		"[::]:9095":       `:: is not an address of this machine's own`,
		"10.0.0.1:9095":   `10.0.0.1 is not an address of this machine's own`,
		"[fe80::1%lo]:80": `fe80::1%lo is not an address of this machine's own`,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			text := source + "[metrics]\nlisten = \"" + address + "\"\n"
			if want != "" {
				refuses(t, text, "agent.toml:6: metrics.listen: "+want)
				return
			}
			c, err := load(write(t, text), noEnv)
			if err != nil || c.Metrics.Listen != address {
				t.Errorf("address %q, error %v", c.Metrics.Listen, err)
			}
		})
	}
}
