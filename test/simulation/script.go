package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// script lists what is done to the world, and when.
type script struct {
	seed uint64
	set  settings
	// steps come one after the other.
	steps []step
}

// settings hold for all of a script.
type settings struct {
	// gated: policies judge pods; filtered: filters judge updates.
	gated, filtered bool
	// precedence: of the documents that claim one identity, only the first source's
	// runs; without precedence all run.
	precedence bool
	// stopDenied: a pod terminates when policy does not admit its replacement.
	stopDenied bool
	// events: the runtime sends events.
	events bool
	// allKinds: pods have containers of all kinds, probes and hooks.
	allKinds bool
	// frequency is how often an unchanged pod is synced. If it is
	// rare, only events cause changes.
	frequency time.Duration
}

func (s *settings) String() string {
	var on []string
	for _, o := range []struct {
		name string
		on   bool
	}{{"policies", s.gated}, {"filters", s.filtered}, {"precedence", s.precedence}, {"stop-denied", s.stopDenied}, {"events", s.events}, {"all kinds of containers", s.allKinds}} {
		if o.on {
			on = append(on, o.name)
		}
	}
	return strings.Join(append(on, "pods looked at every "+s.frequency.String()), ", ")
}

// step is one action, and how long nothing more is done after it. The action determines
// which of source, place and n are used.
type step struct {
	do     action
	source int
	place  int
	n      int
	after  time.Duration
}

// String returns the step as text.
func (s step) String() string {
	return fmt.Sprintf("%-14s %-4s place %d n %-5d then %s", s.do, sourceNames[s.source], s.place, s.n, s.after)
}

// action is a kind of step.
type action string

// The actions. A step whose action is impossible in the current world does nothing.
const (
	// To documents. The place is the document's index in its source.
	add      action = "add"
	remove   action = "remove"
	replace  action = "replace"
	update   action = "update"
	relabel  action = "relabel"
	again    action = "again" // the document that was removed last comes back unchanged
	deletion action = "delete"
	rename   action = "rename"
	move     action = "move"
	report   action = "report" // a status at the API server
	silence  action = "silence"
	speech   action = "speech"

	// To policies.
	policies action = "policies"
	filters  action = "filters"

	// To the runtime.
	exit        action = "exit"
	killSandbox action = "kill-sandbox"
	slow        action = "slow"
	fail        action = "fail"
	hang        action = "hang"
	runtimeDown action = "runtime-down"
	networkDown action = "network-down"
	// lose removes what the runtime still has of a pod that has ended.
	lose action = "lose"

	// To the agent and the node.
	stop     action = "stop"
	crash    action = "crash"
	start    action = "start"
	setClock action = "clock"
	// amnesia: the disk loses the documents, while no agent runs.
	amnesia action = "amnesia"
	rest    action = "rest"
)

// weights are how often each action is done.
var weights = []struct {
	do     action
	weight int
}{
	{add, 14},
	{remove, 7},
	{replace, 7},
	{update, 7},
	{relabel, 3},
	{again, 7},
	{deletion, 6},
	{rename, 3},
	{move, 2},
	{report, 2},
	{silence, 2},
	{speech, 3},
	{policies, 4},
	{filters, 3},
	{exit, 12},
	{killSandbox, 3},
	{slow, 5},
	{fail, 4},
	{hang, 4},
	{runtimeDown, 2},
	{networkDown, 2},
	{lose, 4},
	{stop, 3},
	{crash, 4},
	{setClock, 2},
	{amnesia, 2},
	{rest, 3},
}

// stepsPerScript is how many steps a script has.
const stepsPerScript = 100

// generate makes the script of a seed.
func generate(seed uint64) *script {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &script{seed: seed, set: settings{
		gated: r.IntN(4) > 0, filtered: r.IntN(3) == 0, precedence: r.IntN(4) == 0, stopDenied: r.IntN(6) == 0, events: r.IntN(4) > 0,
		frequency: pick(r, time.Minute, time.Hour), allKinds: hasAllKinds(seed),
	}}
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	down := 0
	for len(s.steps) < stepsPerScript {
		st := step{source: r.IntN(len(sourceNames)), place: r.IntN(places), n: r.IntN(4096), after: pause(r)}
		at := r.IntN(total)
		for _, w := range weights {
			if at -= w.weight; at < 0 {
				st.do = w.do
				break
			}
		}
		switch st.do {
		case stop, crash:
			if down > 0 {
				continue
			}
			down = 1 + r.IntN(3)
		case rest:
			st.after = time.Duration(10+r.IntN(50)) * time.Second
		default:
			if down == 0 {
				break
			}
			if down--; down == 0 {
				s.steps = append(s.steps, st)
				st = step{do: start, after: pause(r)}
			}
		}
		if st.do == deletion {
			st.source = 2 // these actions apply only to pods of the API server
			if r.IntN(2) == 0 {
				s.steps = append(s.steps, st)
				st.n, st.after = r.IntN(4096), pause(r)
			}
		}
		s.steps = append(s.steps, st)
	}
	s.steps = s.steps[:stepsPerScript]
	awayAndBack(s)
	return s
}

// pause returns how long nothing is done after a step. Most pauses are short, so that many
// steps happen close together.
func pause(r *rand.Rand) time.Duration {
	most := 5 * time.Second
	switch n := r.IntN(20); {
	case n < 6:
		most = 50 * time.Millisecond
	case n < 14:
		most = time.Second
	case n == 19:
		most = 20 * time.Second
	}
	return time.Duration(r.Int64N(int64(most)))
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// String returns the script as text.
func (s *script) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %v\n", s.seed, &s.set)
	for i, st := range s.steps {
		fmt.Fprintf(&text, "%3d. %v\n", i+1, st)
	}
	return text.String()
}

// minimise leaves steps out of a script as long as the script still fails, in larger pieces
// first. It tries at most budget times.
func minimise(s *script, budget int, fails func(*script) bool) *script {
	for piece := len(s.steps) / 2; piece > 0; {
		left := false
		for at := len(s.steps) - piece; at >= 0 && budget > 0; at -= piece {
			shorter := *s
			shorter.steps = slices.Delete(slices.Clone(s.steps), at, at+piece)
			budget--
			if fails(&shorter) {
				s, left = &shorter, true
			}
		}
		if !left {
			piece /= 2
		} else {
			piece = min(piece, len(s.steps)/2)
		}
		if budget <= 0 {
			break
		}
	}
	return s
}
