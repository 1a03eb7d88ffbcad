package merge

import (
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/hook"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Policy chooses among the candidates for one pod. It reads the fields that
// the plugin declared.
type Policy func() Verdict

var plugin = hook.Hook[Policy, Verdict]{Package: "merge"}

// Register registers the function that makes the plugin's policy. Call it once, in an init
// function. The agent runs setup when it loads the plugin. setup reads and checks the
// settings, and returns the Policy; the values that the Policy refers to are available in
// all calls. If setup returns an error, the agent refuses the policy document, so the error
// should name the setting and what it must be.
func Register(setup func() (Policy, error)) { plugin.Setups = append(plugin.Setups, setup) }

func init() {
	guest.Hooks.Merge = choose
	guest.OnInit(plugin.Init)
}

// The results of wardlet_merge that are not the number of a candidate.
const (
	resultKeepCurrent int32 = -1
	resultRejectAll   int32 = -2
	resultAbstain     int32 = -3
)

// maxCandidate is the largest number that a candidate can have.
const maxCandidate = 1<<31 - 1

// choose is wardlet_merge.
func choose() int32 {
	if err := guest.Begin(); err != nil {
		return hook.Fail(err.Error())
	}
	verdict := plugin.Policy()
	if fault := guest.End(); fault != "" {
		return hook.Fail(fault)
	}
	switch verdict.answer {
	case win:
		if verdict.winner < 0 || verdict.winner > maxCandidate {
			return hook.Fail("the policy lets candidate " + guest.Itoa(verdict.winner) + " win: candidates are numbered from 0")
		}
		return int32(verdict.winner)
	case keepCurrent:
		return resultKeepCurrent
	case rejectAll:
		host.Reason(verdict.code, verdict.message)
		return resultRejectAll
	case abstain:
		return resultAbstain
	case fail:
		return hook.Fail(verdict.message)
	}
	return hook.Fail("the policy returned no verdict: return one of Win, KeepCurrent, RejectAll, Abstain or Fail")
}
