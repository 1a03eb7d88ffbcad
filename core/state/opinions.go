package state

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// opinionsDir is the directory of the last opinions of policies.
const opinionsDir = "opinions"

// LastOpinions are the last opinions of policies about an instance of a pod.
type LastOpinions struct {
	// Instance is the instance of the pod, see pod.Instance.
	Instance string `json:"instance"`
	// Tenant is the tenant that the pod belongs to, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// At is the time of the newest opinion.
	At       time.Time               `json:"at"`
	Opinions []decisions.LastOpinion `json:"opinions"`
}

// Opinions stores the last opinions of policies, one record per instance.
type Opinions struct {
	Table[string, LastOpinions, *LastOpinions]
}

// Opinions returns the store of the last opinions of policies.
func (d *Dir) Opinions() Opinions {
	return Opinions{Table[string, LastOpinions, *LastOpinions]{d, opinionsDir}}
}

// Load returns all records, the oldest first. Otherwise it is the same as Table.Load.
func (s Opinions) Load() ([]LastOpinions, []error) {
	all, errs := s.Table.Load()
	slices.SortFunc(all, func(a, b LastOpinions) int { return a.At.Compare(b.At) })
	return all, errs
}

func (o *LastOpinions) String() string { return "what policies said last of instance " + o.Instance }

func (o *LastOpinions) key() string { return o.Instance }

// usable returns an error if the agent cannot use the record.
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
