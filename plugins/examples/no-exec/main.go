// Command no-exec is a policy plugin: it denies exec and attach in the containers of a
// node, except in the namespaces and by the users that the policy document lists. The
// document may forbid port-forwards, too. README.md explains the settings.
//
// Comes in: the settings, once, and of each connection its kind, its user and
// the pod's namespace. Goes out: allow or deny. It runs on the one goroutine of
// the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/connect"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

var (
	namespace = sdk.Object("metadata.namespace")
	kind      = connect.Kind()
	source    = connect.Source()
	user      = connect.User()
)

func init() { connect.Register(setup) }

func setup() (connect.Policy, error) {
	if err := settings.Only("kinds", "namespaces", "users"); err != nil {
		return nil, err
	}
	kinds, set := sdk.StringsSetting("kinds")
	if !set {
		kinds = []string{connect.Exec, connect.Attach}
	}
	namespaces, _ := sdk.StringsSetting("namespaces")
	users, _ := sdk.StringsSetting("users")
	p, err := newPolicy(kinds, namespaces, users)
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
