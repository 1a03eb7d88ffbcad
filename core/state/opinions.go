package state

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// opinionsDir is the directory of what policies said last.
const opinionsDir = "opinions"

// LastOpinions are what policies said last of an instance of a pod.
type LastOpinions struct {
	// Instance is that of the pod, see pod.Instance.
	Instance string `json:"instance"`
	// Tenant is whose pod it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// At is when the newest of them was given.
	At       time.Time               `json:"at"`
	Opinions []decisions.LastOpinion `json:"opinions"`
}

// Opinions keeps what policies said last, one record per instance.
type Opinions struct {
	Table[string, LastOpinions, *LastOpinions]
}

// Opinions is the store of what policies said last.
func (d *Dir) Opinions() Opinions {
	return Opinions{Table[string, LastOpinions, *LastOpinions]{d, opinionsDir}}
}

// Load returns all records as Table.Load does, the oldest first.
func (s Opinions) Load() ([]LastOpinions, []error) {
	all, errs := s.Table.Load()
	slices.SortFunc(all, func(a, b LastOpinions) int { return a.At.Compare(b.At) })
	return all, errs
}

func (o *LastOpinions) String() string { return "what policies said last of instance " + o.Instance }

func (o *LastOpinions) key() string { return o.Instance }

// usable says what keeps the agent from going on with a record.
func (o *LastOpinions) usable() error {
	if o.Instance == "" || len(o.Opinions) == 0 {
		return errors.New("it is about no pod, or says nothing")
	}
	for _, one := range o.Opinions {
		if one.Policy == "" || one.RetryAfter < 0 || !slices.Contains([]api.Answer{api.Allow, api.Hold, api.Deny, api.Abstain}, one.Answer) {
			return fmt.Errorf("%q of policy %q is no opinion", one.Answer, one.Policy)
		}
	}
	return nil
}
