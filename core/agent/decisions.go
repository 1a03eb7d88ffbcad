package agent

import (
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/state"
)

// openDecisions opens what is on record of decisions, where each owner of pods has
// its share. A disk on which that fails is no reason not to start.
func (a *Agent) openDecisions() policy.Records {
	log, err := a.state.Decisions(recordLimits(a.cfg))
	if err != nil {
		return brokenRecords{err}
	}
	a.decisions = log
	return log
}

// recordLimits are how many bytes each owner of pods may have on record, by tenant.
func recordLimits(cfg *config.Config) map[string]int64 {
	limits := map[string]int64{"": cfg.Policy.RecordBytes}
	for i := range cfg.Tenants {
		limits[cfg.Tenants[i].Name] = cfg.Tenants[i].RecordBytes
	}
	return limits
}

// brokenRecords take nothing: decisions are made all the same, and shown with why
// they are not on record.
type brokenRecords struct{ err error }

func (b brokenRecords) Append(_ string, entries []state.DecisionEntry) []error {
	errs := make([]error, len(entries))
	for i := range errs {
		errs[i] = b.err
	}
	return errs
}

func (b brokenRecords) Counted(string, []state.DecisionCount) error { return b.err }

func (b brokenRecords) KeepFiles(string, map[string][]byte) error { return b.err }

func (b brokenRecords) Newest(int) ([]state.DecisionRecord, error) { return nil, b.err }
