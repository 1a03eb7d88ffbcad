package admit

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Policy judges one pod. It reads the fields that the plugin declared.
type Policy func() Verdict

var (
	// setups are what Register was given.
	setups []func() (Policy, error)
	policy Policy
)

// Register says how the plugin's policy is made. Call it once, in an init
// function. The agent runs setup when it loads the plugin: it reads and checks
// the settings, and what its Policy refers to is kept for all calls. An error
// refuses the policy document, so it should name the setting and what it must
// be.
func Register(setup func() (Policy, error)) { setups = append(setups, setup) }

func init() {
	guest.Admit = admit
	guest.OnInit(initialise)
}

func initialise() (err error) {
	switch len(setups) {
	case 0:
		return errors.New("the plugin has no policy: call admit.Register in an init function")
	case 1:
	default:
		return errors.New("admit.Register is called twice: a plugin has one policy")
	}
	policy, err = setups[0]()
	if err == nil && policy == nil {
		return errors.New("setup gave neither a policy nor an error")
	}
	return err
}

// The answers of wardlet_admit.
const (
	answerAllow int32 = iota
	answerDeny
	answerHold
	answerAbstain
	answerFailed int32 = -1
)

// admit is wardlet_admit.
func admit() int32 {
	if err := guest.Begin(); err != nil {
		return failed(err)
	}
	verdict := policy()
	if err := guest.End(); err != nil {
		return failed(err)
	}
	switch verdict.answer {
	case allow:
		return answerAllow
	case abstain:
		return answerAbstain
	case deny:
		host.Reason(verdict.code, verdict.message)
		return answerDeny
	case hold:
		host.Reason(verdict.code, verdict.message)
		if verdict.retryAfter > 0 {
			host.RetryAfter(int64(verdict.retryAfter))
		}
		return answerHold
	case fail:
		return failed(errors.New(verdict.message))
	default:
		return failed(errors.New("the policy returned no verdict: return one of Allow, Deny, Hold, Abstain or Fail"))
	}
}

func failed(err error) int32 {
	host.Reason("", err.Error())
	return answerFailed
}
