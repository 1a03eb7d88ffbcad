// Command source-precedence is a policy plugin: where several documents claim
// one pod, the source decides which of them wins, in an order that the policy
// document has. README.md tells what the settings mean.
//
// Comes in: the settings, once, and of each candidate its source and document,
// the source's kind, and whether it runs or is only known from before a restart. Goes out:
// the winner, with an explanation. It runs on the one goroutine of the agent's
// call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
)

// All of these are lists with an element for each candidate.
var (
	kinds      = sdk.Candidates("kind")
	sources    = sdk.Candidates("source")
	documents  = sdk.Candidates("document")
	running    = sdk.Candidates("running")
	restored   = sdk.Candidates("restored")
	namespaces = sdk.Candidates("object.metadata.namespace")
)

func init() { merge.Register(setup) }

func setup() (merge.Policy, error) {
	p, err := newPolicy()
	if err != nil {
		return nil, err
	}
	return p.choose, nil
}

func main() {}
