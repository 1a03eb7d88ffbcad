package privateruntime

import (
	"encoding/json"
	"fmt"
)

// conflist is a CNI network configuration list.
type conflist struct {
	CNIVersion string   `json:"cniVersion"`
	Name       string   `json:"name"`
	Plugins    []plugin `json:"plugins"`
}

// plugin is one entry of a list; only the fields in use here.
type plugin struct {
	Type         string          `json:"type"`
	Bridge       string          `json:"bridge,omitempty"`
	IsGateway    bool            `json:"isGateway,omitempty"`
	IPMasq       bool            `json:"ipMasq,omitempty"`
	HairpinMode  bool            `json:"hairpinMode,omitempty"`
	IPAM         *ipam           `json:"ipam,omitempty"`
	Capabilities map[string]bool `json:"capabilities,omitempty"`
}

type ipam struct {
	Type    string    `json:"type"`
	DataDir string    `json:"dataDir"`
	Ranges  [][]span  `json:"ranges"`
	Routes  []cniPath `json:"routes"`
}

type span struct {
	Subnet string `json:"subnet"`
}

type cniPath struct {
	Dst string `json:"dst"`
}

// renderNetwork returns the CNI configuration of a runtime: a bridge with addresses of its subnet, masqueraded towards
// the outside, and host ports. Version 0.4.0 is what the oldest packaged plugins speak.
func renderNetwork(i instance) ([]byte, error) {
	data, err := json.MarshalIndent(conflist{
		CNIVersion: "0.4.0",
		Name:       i.network(),
		Plugins: []plugin{
			{
				Type: "bridge", Bridge: i.bridge(), IsGateway: true, IPMasq: true, HairpinMode: true,
				IPAM: &ipam{
					Type:    "host-local",
					DataDir: i.addresses(),
					Ranges:  [][]span{{{Subnet: i.Subnet.String()}}},
					Routes:  []cniPath{{Dst: "0.0.0.0/0"}},
				},
			},
			{Type: "portmap", Capabilities: map[string]bool{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("render the CNI network: %w", err)
	}
	return append(data, '\n'), nil
}
