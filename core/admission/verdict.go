package admission

import (
	"github.com/wardlet/wardlet/core/api"
)

// StoredVerdict is the first handler of a chain. It admits a pod that policy allows, and every pod
// if no policy was asked. It refuses any other verdict with the verdict's reason and message. Held
// pods never reach the chain.
type StoredVerdict struct{}

// Admit implements Handler.
func (StoredVerdict) Admit(a *Attributes) Result {
	v := a.Verdict
	if v == nil || v.Answer == api.Allow {
		return Result{Admitted: true}
	}
	return Result{Reason: v.Reason, Message: v.Message}
}
