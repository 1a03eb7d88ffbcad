// Command change-window is a policy plugin: changes reach running pods only at certain
// times of the week. README.md explains the settings.
//
// Comes in: the settings, once, and for each change the kinds of change, the labels and
// annotations of the pod, and the time. Goes out: pass, or defer until the next window
// opens. It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/filter"
	"github.com/wardlet/wardlet/plugins/sdk/request"
)

var (
	labels       = sdk.Object("metadata.labels")
	annotations  = sdk.Object("metadata.annotations")
	before       = sdk.OldObject("metadata.name")
	operation    = sdk.Request("operation")
	replaces     = sdk.Request("replaces")
	changed      = request.Changed()
	now          = sdk.Request("time")
	synchronized = sdk.Request("clockSynchronized")
)

func init() { filter.Register(setup) }

func setup() (filter.Policy, error) {
	p, err := newPolicy()
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
