// Command tenant-quota is a policy plugin: it limits the CPU and memory that the pods of
// some namespaces may together request, and the number of these pods. README.md explains
// the settings.
//
// Comes in: the settings, once, the requests of each pod, and what the agent reports about
// the pods on the node (capability node.read). Goes out: allow, or else hold or deny, as
// the settings say. It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

var (
	namespace = sdk.Object("metadata.namespace")
	uid       = sdk.Object("metadata.uid")
	replaces  = sdk.Request("replaces")
	// podNamespaces, podUIDs and podRequests are facts about the pods on the node.
	podNamespaces = sdk.Node("pods[*].namespace")
	podUIDs       = sdk.Node("pods[*].uid")
	podRequests   [pod]*sdk.Field
)

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) {
	p, err := newPolicy()
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
