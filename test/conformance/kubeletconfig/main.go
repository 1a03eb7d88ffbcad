// Command kubeletconfig prints the part of an agent.toml that means what the KubeletConfiguration in a
// file means. The tests of Kubernetes' node suite write such a file and restart the node agent.
//
//	kubeletconfig FILE CRI-ENDPOINT
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/kubeletconfig"
	"github.com/wardlet/wardlet/core/nodeapi"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kubeletconfig FILE CRI-ENDPOINT")
		os.Exit(2)
	}
	err := convert(os.Stdout, os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubeletconfig:", err)
		os.Exit(1)
	}
}

// convert writes the tables eviction, node and runtime. A test takes the configuration from the agent,
// which leaves out fields that it does not honour, and writes all fields, those with zero values. So
// only the agent's fields are converted.
func convert(w io.Writer, path, endpoint string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var known nodeapi.KubeletConfiguration
	if err := yaml.Unmarshal(text, &known); err != nil {
		return err
	}
	if text, err = yaml.Marshal(&known); err != nil {
		return err
	}
	c, err := kubeletconfig.Parse(path, text)
	if err != nil {
		return err
	}
	tables := map[string]map[string]any{}
	for _, name := range []string{"eviction", "node", "runtime"} {
		if tables[name] = c.Table(name); tables[name] == nil {
			tables[name] = map[string]any{}
		}
	}
	tables["runtime"]["endpoint"] = endpoint
	return toml.NewEncoder(w).Encode(tables)
}
