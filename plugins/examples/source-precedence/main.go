// Command source-precedence is a policy plugin: if several documents claim one pod, the
// document wins whose source comes first in the order of the settings. README.md explains
// the settings.
//
// Comes in: the settings, once, and of each candidate its source and document, the source's
// kind, whether it runs, and whether the agent only remembers it from before a restart.
// Goes out: the winner, with an explanation. It runs on the one goroutine of the agent's
// call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
)

// Each of these fields is a list with one element for each candidate.
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
