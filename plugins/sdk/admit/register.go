package admit

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Policy judges one pod. It reads the fields that the plugin declared.
type Policy func() Verdict

var plugin = hook.Hook[Policy, Verdict]{Package: "admit"}

// Register registers the function that makes the plugin's policy. Call it once, in an init
// function. The agent runs setup when it loads the plugin. setup reads and checks the
// settings, and returns the Policy; the values that the Policy refers to are available in
// all calls. If setup returns an error, the agent refuses the policy document, so the error
// should name the setting and what it must be.
func Register(setup func() (Policy, error)) { plugin.Setups = append(plugin.Setups, setup) }

func init() {
	guest.Hooks.Admit = admit
	guest.OnInit(plugin.Init)
}

// The results of wardlet_admit.
const (
	resultAllow int32 = iota
	resultDeny
	resultHold
	resultAbstain
)

// admit is wardlet_admit.
func admit() int32 {
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
	case abstain:
		return resultAbstain
	case deny:
		host.Reason(verdict.reason.Code, verdict.reason.Message)
		return resultDeny
	case hold:
		host.Reason(verdict.reason.Code, verdict.reason.Message)
		if verdict.retryAfter > 0 {
			host.RetryAfter(int64(verdict.retryAfter))
		}
		return resultHold
	case fail:
		return hook.Fail(verdict.reason.Message)
	}
	return hook.Fail("the policy returned no verdict: return one of Allow, Deny, Hold, Abstain or Fail")
}
