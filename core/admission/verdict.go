package admission

import (
	"github.com/wardlet/wardlet/core/api"
)

// StoredVerdict is the first handler of a chain: it admits what policy allows,
// and everything where no policy was asked. Any other answer refuses, with the
// verdict's reason and message; a held pod does not come here.
type StoredVerdict struct{}

// Admit implements Handler.
func (StoredVerdict) Admit(a *Attributes) Result {
	v := a.Verdict
	if v == nil || v.Answer == api.Allow {
		return Result{Admitted: true}
	}
	return Result{Reason: v.Reason, Message: v.Message}
}
