package filter

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Policy judges one change of a pod. It reads the fields that the plugin
// declared.
type Policy func() Verdict

var plugin = hook.Hook[Policy, Verdict]{Package: "filter"}

// Register registers the function that makes the plugin's policy. Call it once, in an init
// function. The agent runs setup when it loads the plugin. setup reads and checks the
// settings, and returns the Policy; the values that the Policy refers to are available in
// all calls. If setup returns an error, the agent refuses the policy document, so the error
// should name the setting and what it must be.
func Register(setup func() (Policy, error)) { plugin.Setups = append(plugin.Setups, setup) }

func init() {
	guest.Hooks.Filter = sift
	guest.OnInit(plugin.Init)
}

// The results of wardlet_filter.
const (
	resultPass int32 = iota
	resultDrop
	resultDefer
	resultAbstain
)

// sift is wardlet_filter.
func sift() int32 {
	if err := guest.Begin(); err != nil {
		return hook.Fail(err.Error())
	}
	verdict := plugin.Policy()
	if fault := guest.End(); fault != "" {
		return hook.Fail(fault)
	}
	if verdict.code != "" || verdict.message != "" && verdict.answer != fail {
		host.Reason(verdict.code, verdict.message)
	}
	switch verdict.answer {
	case pass:
		return resultPass
	case drop:
		return resultDrop
	case deferred:
		if verdict.after > 0 {
			host.RetryAfter(int64(verdict.after))
		}
		return resultDefer
	case abstain:
		return resultAbstain
	case fail:
		return hook.Fail(verdict.message)
	}
	return hook.Fail("the policy returned no verdict: return one of Pass, Drop, Defer, Abstain or Fail")
}
