package connect

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Policy judges one connection. It reads the fields that the plugin declared.
type Policy func() Verdict

var plugin = hook.Hook[Policy, Verdict]{Package: "connect"}

// Register registers the function that makes the plugin's policy. Call it once, in an init
// function. The agent runs setup when it loads the plugin. setup reads and checks the
// settings, and returns the Policy; the values that the Policy refers to are available in
// all calls. If setup returns an error, the agent refuses the policy document, so the error
// should name the setting and what it must be.
func Register(setup func() (Policy, error)) { plugin.Setups = append(plugin.Setups, setup) }

func init() {
	guest.Hooks.Connect = decide
	guest.OnInit(plugin.Init)
}

// The results of wardlet_connect.
const (
	resultAllow   int32 = 0
	resultDeny    int32 = 1
	resultAbstain int32 = 3
)

// decide is wardlet_connect.
func decide() int32 {
	if err := guest.Begin(); err != nil {
		return hook.Fail(err.Error())
	}
	verdict := plugin.Policy()
	if fault := guest.End(); fault != "" {
		return hook.Fail(fault)
	}
	switch verdict.answer {
	case allow:
		return resultAllow
	case deny:
		host.Reason(verdict.code, verdict.message)
		return resultDeny
	case abstain:
		return resultAbstain
	case fail:
		return hook.Fail(verdict.message)
	}
	return hook.Fail("the policy returned no verdict: return one of Allow, Deny, Abstain or Fail")
}
