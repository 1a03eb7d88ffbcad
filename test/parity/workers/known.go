package workers

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// The differences from a kubelet, by their IDs in docs/differences.md.
const (
	evictedContentWaits = "evicted-content-waits"
	whatRunsIsKept      = "what-runs-is-kept"
	unwantedInterrupts  = "unwanted-interrupts"
	returnIsRetried     = "return-is-retried"
	endsInOwnVersion    = "ends-in-own-version"
	lineForgetsWhoLeft  = "line-forgets-who-left"
)

var predicates = []string{
	evictedContentWaits, whatRunsIsKept, unwantedInterrupts, returnIsRetried, endsInOwnVersion, lineForgetsWhoLeft,
}

// same compares the states that both sides show after a step.
func same(theirs, ours *Look, used map[string]int) error {
	if !maps.Equal(theirs.Known, ours.Known) {
		return fmt.Errorf("of the workers there are, a kubelet gives %v, wardlet %v", theirs.Known, ours.Known)
	}
	for _, uid := range slices.Sorted(maps.Keys(theirs.Pods)) {
		if err := samePod(theirs.Pods[uid], ours.Pods[uid], used); err != nil {
			return fmt.Errorf("pod %s: %w", uid, err)
		}
	}
	return nil
}

func samePod(theirs, ours Seen, used map[string]int) error {
	want := theirs
	if theirs.ContentRemovable && theirs.TerminationRequested && !theirs.KnownTerminated && !ours.ContentRemovable {
		used[evictedContentWaits]++
		theirs.ContentRemovable = false
	}
	unknown := !theirs.CouldRun && !theirs.KnownTerminated
	if unknown && (ours.Runs || ours.Sandbox) && theirs.RuntimeRemovable && theirs.ContentRemovable {
		used[whatRunsIsKept]++
		theirs.RuntimeRemovable, theirs.ContentRemovable = false, false
	}
	if theirs != ours {
		return fmt.Errorf("a kubelet\n%+v\nwardlet\n%+v", want, ours)
	}
	return nil
}

// apart is a history after which the two sides stay different.
type apart struct {
	name, id string
	steps    []Step
	// uid is the pod in which the difference shows. differ reports whether the difference is there.
	uid    types.UID
	differ func(theirs, ours Seen) bool
}

// aparts returns the differences that change later steps. Players avoid them.
func aparts() []apart {
	pod := &Version{Name: "a0", Grace: new(int64(30))}
	shorter := &Version{Name: "a0", Grace: new(int64(30)), Deletion: new(int64(1)), Deleted: true}
	static := &Version{Name: "static", Static: true}
	ask := func(do string, uid types.UID, v *Version) Op { return Op{Do: do, UID: uid, Pod: v} }
	set := func(call, mode string) Op { return Op{Do: doSet, UID: "a0", Call: call, Mode: mode} }
	ended := func(theirs, ours Seen) bool { return !theirs.KnownTerminated && ours.KnownTerminated }
	return []apart{
		{
			"a pod that no source wants is ended while its set-up hangs", unwantedInterrupts,
			[]Step{{set(callSetUp, modeHangs), ask(doCreate, "a0", pod), {Do: doKnown}}},
			"a0",
			func(theirs, ours Seen) bool {
				return theirs.Hangs == callSetUp && !theirs.KnownTerminated && ours.Hangs == "" && ours.KnownTerminated
			},
		},
		{
			"a pod that is to come back is tried again", returnIsRetried,
			[]Step{{
				set(callStop, modeFails), ask(doCreate, "a0", pod), ask(doKill, "a0", pod), ask(doCreate, "a0", pod),
				set(callStop, modeWorks),
				{Do: doKnown, Wanted: []types.UID{"a0"}},
			}},
			"a0", ended,
		},
		{
			"the version that is to come does not shorten the end of the one before", endsInOwnVersion,
			[]Step{{
				set(callStop, modeHangs), ask(doCreate, "a0", pod), ask(doKill, "a0", pod), ask(doCreate, "a0", pod),
				ask(doUpdate, "a0", shorter),
			}},
			"a0", func(theirs, ours Seen) bool { return theirs.Grace == 1 && ours.Grace == 30 },
		},
		{
			"a static pod that left the line comes back at its end", lineForgetsWhoLeft,
			[]Step{{
				ask(doCreate, "s0", static), ask(doCreate, "s1", static),
				{Do: doKnown, Wanted: []types.UID{"s0"}},
				ask(doCreate, "s2", static), ask(doCreate, "s1", static), ask(doKill, "s0", static),
				ask(doSync, "s1", static), ask(doSync, "s2", static),
			}},
			"s2", func(theirs, ours Seen) bool { return !theirs.SetUp && ours.SetUp },
		},
	}
}
