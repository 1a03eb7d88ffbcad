// Command tenant-quota is a policy plugin: the pods of some namespaces may
// together ask for so much CPU and memory, and be so many. README.md tells what
// the settings mean.
//
// Comes in: the settings, once, of each pod what it requests, and what the
// agent says of the pods on the node (capability node.read). Goes out: allow,
// and hold or deny, as the settings want it. It runs on the one goroutine of
// the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

var (
	namespace = sdk.Object("metadata.namespace")
	uid       = sdk.Object("metadata.uid")
	replaces  = sdk.Request("replaces")
	// podNamespaces, podUIDs and podRequests are of the pods on the node.
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
