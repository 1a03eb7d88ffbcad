package policy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/state"
)

// onTrial puts a set that comes into force on probation, unless none of its
// policies is new. One that an earlier process had in force goes on as it was.
func (r *reloader) onTrial(next, running *loadedSet) {
	suspects := next.suspects(running)
	if good := r.kept.record.Good; running == nil && len(good) > 0 && good[0] == next.set.Digest {
		suspects = nil
		if trial := r.kept.record.Trial; trial.Set == next.set.Digest {
			suspects = trial.Policies
		}
	}
	next.probation = newProbation(r.standing.tenant, suspects, r.cfg.Now(), r.trials)
}

// judgeTrial acts on how the probation of the set in force ended. It reports
// whether another set came into force.
func (r *reloader) judgeTrial(ctx context.Context) bool {
	running := r.standing.current()
	if running == nil || running.probation == nil {
		return false
	}
	switch how, why := running.probation.ended(r.cfg.Now()); how {
	case failed:
		return r.fallBack(ctx, running, why)
	case passed:
		if r.kept.passed(running.set.Digest) {
			r.cfg.Logger.Info("the policies have passed their probation", "directory", r.cfg.Dir, "digest", running.set.Digest)
		}
	case unknown:
	}
	return false
}

// fallBack brings the set into force that was before the one that has failed,
// which is not tried again. Where there is none, what is in force stays.
func (r *reloader) fallBack(ctx context.Context, running *loadedSet, why string) bool {
	stay := func(reason string) bool {
		if running.probation.stay(reason) {
			r.cfg.Logger.Error("the policies fail and stay in force", "directory", r.cfg.Dir, "digest", running.set.Digest, "failures", why, "why", reason)
		}
		return false
	}
	if running.probation.stays() && !r.kept.machine {
		return false
	}
	if !r.kept.another(running.set.Digest) {
		return stay("there is no earlier set to go back to")
	}
	before, err := r.kept.last(ctx, &r.loader, running, running.set.Digest)
	switch {
	case ctx.Err() != nil:
		before.release()
		return false
	case before == nil:
		return stay(fmt.Sprintf("the set before cannot be brought back: %v", bounded(err)))
	}
	now := r.cfg.Now()
	reason := fmt.Errorf("rolled back at %s: %s; mend the policies, or take them in again with wardlet policy retry", now.UTC().Format(time.RFC3339), why)
	r.kept.back(running.content, reason, running.set.Digest, before.set.Digest, now)
	r.put(before, reason, false)
	// The directory may hold something else by now.
	r.acted = false
	r.cfg.Logger.Error("policies are rolled back: their plugins fail", "directory", r.cfg.Dir, "from", running.set.Digest, "to", before.set.Digest,
		"generation", before.generation, "failures", why)
	return true
}

// another reports whether a good set is kept beside that one.
func (k *kept) another(than string) bool {
	return slices.ContainsFunc(k.record.Good, func(digest string) bool { return digest != than })
}

// passed remembers that a set has passed its probation, and reports whether that
// is news.
func (k *kept) passed(digest string) bool {
	if k.record.Trial.Set != digest {
		return false
	}
	k.record.Trial = state.PolicyTrial{}
	k.store()
	return true
}
