//go:build !wasip1

package sdktest

import (
	"fmt"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// The answers of wardlet_admit, wardlet_filter and wardlet_connect, by their numbers, and
// the answers of wardlet_merge that are not the number of a candidate.
var (
	admitAnswers  = []Answer{Allow, Deny, Hold, Abstain}
	filterAnswers = []Answer{Pass, Drop, Defer, Abstain}
	// connectAnswers has no answer for the number 2.
	connectAnswers = []Answer{Allow, Deny, "", Abstain}
	mergeAnswers   = map[int32]Answer{-1: KeepCurrent, -2: RejectAll, -3: Abstain}
)

// functions returns the function of a hook, nil if the plugin does not have the hook.
func functions(hook string) func() int32 {
	switch hook {
	case hookMerge:
		return guest.Hooks.Merge
	case hookFilter:
		return guest.Hooks.Filter
	case hookConnect:
		return guest.Hooks.Connect
	}
	return guest.Hooks.Admit
}

// answer returns the answer for the number that a hook returned, and false if the number
// has no meaning.
func answer(hook string, number int32, q *projection.Question) (known Answer, ok bool) {
	switch hook {
	case hookMerge:
		if number >= 0 {
			return Win, int(number) < len(q.Candidates)
		}
		if known = mergeAnswers[number]; known == "" {
			return Failed, true
		}
		return known, known != KeepCurrent || q.OldObject != nil
	case hookFilter:
		return listed(filterAnswers, number)
	case hookConnect:
		known, ok = listed(connectAnswers, number)
		return known, ok && known != ""
	}
	return listed(admitAnswers, number)
}

func listed(answers []Answer, number int32) (known Answer, ok bool) {
	switch {
	case number < 0:
		return Failed, true
	case int(number) < len(answers):
		return answers[number], true
	}
	return "", false
}

// ask calls a hook. It leaves out the parts of the result that have no meaning for the
// answer, because the agent ignores them.
func (a *agent) ask(hook string, q *projection.Question) Result {
	a.hook, a.question = hook, q
	defer func() { a.hook, a.question = "", nil }()
	var number int32
	if s := stoppable(func() { number = functions(hook)() }); s != nil {
		return failure(badOutput, s.message)
	}
	known, ok := answer(hook, number, q)
	if !ok {
		return failure(badOutput, fmt.Sprintf("wardlet_%s answers %d, which means nothing here", hook, number))
	}
	r := a.result
	r.Answer = known
	switch known {
	case Failed:
		r.Code = pluginError
	case Win:
		r.Winner = int(number)
	}
	if known != Hold && known != Defer {
		r.RetryAfter = 0
	}
	if known != Allow && known != Win {
		r.Patch = ""
	}
	return r
}
