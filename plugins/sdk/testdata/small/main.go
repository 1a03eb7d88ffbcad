// Command small is the smallest plugin that looks at something.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

var network = sdk.Object("spec.hostNetwork")

func init() { admit.Register(func() (admit.Policy, error) { return judge, nil }) }

func judge() admit.Verdict {
	if network.Bool() {
		return admit.Deny("HostNetwork", "the pod wants the node's network")
	}
	return admit.Allow()
}

func main() {}
