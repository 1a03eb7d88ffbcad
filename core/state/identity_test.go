package state

import (
	"errors"
	"strings"
	"testing"
)

func TestNodeName(t *testing.T) {
	t.Parallel()
	type start struct {
		configured, host, want string
		// differs and err are parts of the warning and of the error.
		differs, err string
	}
	tests := map[string][]start{
		"the host's name of the first start stays": {
			{host: " Node-1 ", want: "node-1"},
			{host: "node-1", want: "node-1"},
			{host: "node-2", want: "node-1", differs: `the host is called "node-2" now, this node stays "node-1"`},
			{host: "!", want: "node-1"}, // without a host name, the old name stays
		},
		"agent.toml decides": {
			{configured: "edge-7", host: "node-1", want: "edge-7"},
			{configured: "edge-7", host: "node-2", want: "edge-7"},
			{configured: "edge-8", want: "edge-8", differs: `node_name in agent.toml is "edge-8", so far this node was "edge-7"`},
			{configured: "edge-8", want: "edge-8"},
		},
		"a name taken out of agent.toml stays": {
			{configured: "edge-7", want: "edge-7"},
			{host: "node-1", want: "edge-7", differs: `the host is called "node-1"`},
		},
		"a host without a usable name needs one from agent.toml": {
			{host: "", err: "set node_name"},
			{host: "under_score", err: "set node_name"},
			{host: "!", err: "no host name; set node_name"},
			{configured: "Upper", err: "set node_name"},
			{configured: "edge-7", host: "under_score", want: "edge-7"},
		},
	}
	for name, starts := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			for i, s := range starts {
				d, _ := open(t, path)
				got, differs, err := d.NodeName(s.configured, func() (string, error) {
					if s.host == "!" {
						return "", errors.New("no host name")
					}
					return s.host, nil
				})
				check(t, d.Close())
				if s.err != "" {
					wantError(t, err, s.err)
					continue
				}
				check(t, err)
				if got != s.want || !strings.Contains(differs, s.differs) || s.differs == "" && differs != "" {
					t.Errorf("start %d: %q, %q; want %q, %q", i+1, got, differs, s.want, s.differs)
				}
			}
		})
	}
}
