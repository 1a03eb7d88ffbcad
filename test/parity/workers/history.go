package workers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// wishes are the possible kinds of wishes; each occurs as often as its weight.
var wishes = repeated(map[string]int{
	doCreate: 8, doUpdate: 6, doSync: 3, doKill: 5, doStray: 3, doAppear: 2, doExit: 3, doSet: 7, doKnown: 5,
})

func repeated(times map[string]int) (all []string) {
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		all = append(all, slices.Repeat([]string{kind}, times[kind])...)
	}
	return all
}

// The pods of a history: pods of an API server, and static pods that share a name.
var (
	served = []types.UID{"a0", "a1", "a2"}
	static = []types.UID{"s0", "s1", "s2"}
)

// generate makes the wishes of a seed; they are always the same.
func generate(seed uint64) []wish {
	random := rand.New(rand.NewPCG(seed, 11))
	uids := slices.Concat(served[:1+random.IntN(3)], static[:random.IntN(4)])
	var all []wish
	for range 10 + random.IntN(30) {
		uid := uids[random.IntN(len(uids))]
		w := wish{Op{Do: wishes[random.IntN(len(wishes))], UID: uid}, version(random, uid)}
		switch w.op.Do {
		case doKill:
			w.op.Evict = random.IntN(3) == 0
			w.op.Grace = period(random)
			w.op.Mark = []string{"", "", "one", "two", "three"}[random.IntN(5)]
		case doSet:
			w.op.Call = []string{callSetUp, callStop, callStop, callClean}[random.IntN(4)]
			w.op.Mode = []string{modeWorks, modeFails, modeHangs}[random.IntN(3)]
		case doKnown:
			w.op.UID = ""
			for _, uid := range uids {
				if random.IntN(3) > 0 {
					w.op.Wanted = append(w.op.Wanted, uid)
				}
			}
		}
		all = append(all, w)
	}
	return all
}

// version returns a random version of a pod from its source. Pods with odd numbers terminate when
// their container does.
func version(random *rand.Rand, uid types.UID) Version {
	v := Version{Name: string(uid), Never: strings.HasSuffix(string(uid), "1"), Grace: period(random)}
	if slices.Contains(static, uid) {
		v.Name, v.Static = "static", true
	}
	if random.IntN(4) == 0 {
		v.Deletion = period(random)
	}
	v.Deleted = random.IntN(8) == 0
	v.Ended = !v.Static && random.IntN(10) == 0
	return v
}

// period returns a grace period, or nil.
func period(random *rand.Rand) *int64 {
	all := []*int64{nil, new(int64(0)), new(int64(1)), new(int64(2)), new(int64(10)), new(int64(30)), new(int64(60))}
	return all[random.IntN(len(all))]
}

// written describes the steps of a history for a reader.
func written(steps []Step) string {
	var text strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&text, "  step %d:", i+1)
		for j := range s {
			fmt.Fprintf(&text, " %s;", &s[j])
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func (op *Op) String() string {
	text := op.Do
	switch op.Do {
	case doKnown:
		return fmt.Sprintf("%s %v", op.Do, op.Wanted)
	case doSet:
		return fmt.Sprintf("%s of %s %s", op.Call, op.UID, op.Mode)
	}
	text += " " + string(op.UID)
	if op.Pod != nil {
		text += fmt.Sprintf(" (grace %s, deletion %s", in(op.Pod.Grace), in(op.Pod.Deletion))
		if op.Pod.Deleted {
			text += ", deleted"
		}
		if op.Pod.Ended {
			text += ", ended"
		}
		text += ")"
	}
	if op.Do == doKill {
		text += fmt.Sprintf(" within %s, evict %v, mark %q", in(op.Grace), op.Evict, op.Mark)
	}
	return text
}

func in(seconds *int64) string {
	if seconds == nil {
		return "none"
	}
	return fmt.Sprintf("%d s", *seconds)
}

// minimise removes the wishes of a history that are not needed for it to fail.
func minimise(all []wish, fails func([]wish) bool) []wish {
	for i := range slices.Backward(all) {
		if less := slices.Delete(slices.Clone(all), i, i+1); fails(less) {
			all = less
		}
	}
	return all
}
