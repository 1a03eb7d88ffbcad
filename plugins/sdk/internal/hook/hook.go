package hook

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
)

// Failed is the result with which a function of any hook says that the plugin cannot
// answer.
const Failed int32 = -1 << 31

// Hook makes policies of type P, which return verdicts of type V.
type Hook[P ~func() V, V any] struct {
	// Package is the name of the package of the hook, for messages.
	Package string
	// Setups are the functions that the plugin registered. Policy is the policy that its
	// setup returned.
	Setups []func() (P, error)
	Policy P
}

// Init makes the policy. The error says what is wrong with the plugin, or is the error of
// setup.
func (h *Hook[P, V]) Init() (err error) {
	switch len(h.Setups) {
	case 0:
		return errors.New("the plugin has no policy: call " + h.Package + ".Register in an init function")
	case 1:
	default:
		return errors.New(h.Package + ".Register is called twice: a plugin has one policy for each hook")
	}
	h.Policy, err = h.Setups[0]()
	if err == nil && h.Policy == nil {
		return errors.New("setup gave neither a policy nor an error")
	}
	return err
}

// Fail passes the reason why there is no answer to the agent, and returns Failed.
func Fail(reason string) int32 {
	host.Reason("", reason)
	return Failed
}
