package pleg

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// history is the sequence of events of a runtime, second by second.
type history struct {
	seed  uint64
	steps []step
}

// step is one second: changes happen in its first half, and the pods in asked are asked about in
// its second half.
type step struct {
	changes []change
	asked   []types.UID
	// listFails: the list at the end of the second fails.
	listFails bool
}

// change is one event of one pod. arg selects one of the pod's parts.
type change struct {
	kind string
	uid  types.UID
	arg  int
}

// changes are the possible kinds of events; each occurs as often as its weight.
var changes = repeated(map[string]int{
	"sandbox": 2, "container": 3, "start": 3, "exit": 4, "remove": 3, "sandboxdies": 1, "sandboxgoes": 1,
	"unknown": 1, "known": 1, "vanish": 1, "fails": 2, "works": 3,
})

func repeated(times map[string]int) (all []string) {
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		all = append(all, slices.Repeat([]string{kind}, times[kind])...)
	}
	return all
}

// generate makes the history of a seed; it is always the same.
func generate(seed uint64) *history {
	random := rand.New(rand.NewPCG(seed, 7))
	h := &history{seed: seed}
	pods := 1 + random.IntN(5)
	for range 8 + random.IntN(17) {
		var s step
		for range random.IntN(6) {
			s.changes = append(s.changes, change{
				changes[random.IntN(len(changes))], types.UID(fmt.Sprintf("p%d", random.IntN(pods))), random.IntN(100),
			})
		}
		for range max(0, random.IntN(5)-2) {
			uid := types.UID(fmt.Sprintf("p%d", random.IntN(pods+1))) // one never exists
			if !slices.Contains(s.asked, uid) {
				s.asked = append(s.asked, uid)
			}
		}
		s.listFails = random.IntN(12) == 0
		h.steps = append(h.steps, s)
	}
	return h
}

// pods returns all pods that the history names, and one that it does not.
func (h *history) pods() []types.UID {
	named := map[types.UID]bool{"never": true}
	for _, s := range h.steps {
		for _, c := range s.changes {
			named[c.uid] = true
		}
		for _, uid := range s.asked {
			named[uid] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// apply applies a change if it is possible.
func (w *world) apply(c change, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[c.uid]
	if p == nil {
		p = &worldPod{}
	}
	switch c.kind {
	case "sandbox":
		p.sandboxes = slices.Insert(p.sandboxes, 0, part{fmt.Sprintf("%s-s%d", c.uid, n), status.StateRunning})
	case "container":
		state := []status.ContainerState{status.StateCreated, status.StateRunning, status.StateExited}[c.arg%3]
		p.containers = slices.Insert(p.containers, 0, part{fmt.Sprintf("%s-c%d", c.uid, n), state})
	case "start":
		turn(p.containers, c.arg, status.StateCreated, status.StateRunning)
	case "exit":
		turn(p.containers, c.arg, status.StateRunning, status.StateExited)
	case "remove":
		p.containers = without(p.containers, c.arg)
	case "sandboxdies":
		turn(p.sandboxes, c.arg, status.StateRunning, status.StateExited)
	case "sandboxgoes":
		p.sandboxes = without(p.sandboxes, c.arg)
	case "unknown":
		turn(p.containers, c.arg, status.StateRunning, status.StateUnknown)
	case "known":
		turn(p.containers, c.arg, status.StateUnknown, status.StateRunning)
	case "vanish":
		p.containers, p.sandboxes = nil, nil
	case "fails", "works":
		p.fails = c.kind == "fails"
	}
	if delete(w.pods, c.uid); !p.empty() {
		w.pods[c.uid] = p
	}
}

// turn changes the state of one part that is in the state from.
func turn(parts []part, arg int, from, to status.ContainerState) {
	var fit []int
	for i := range parts {
		if parts[i].state == from {
			fit = append(fit, i)
		}
	}
	if len(fit) > 0 {
		parts[fit[arg%len(fit)]].state = to
	}
}

func without(parts []part, arg int) []part {
	if len(parts) == 0 {
		return parts
	}
	i := arg % len(parts)
	return slices.Delete(parts, i, i+1)
}

// String describes the history for a reader.
func (h *history) String() string {
	var text strings.Builder
	for i, s := range h.steps {
		fmt.Fprintf(&text, "  second %d: %v, asked about %v", i+1, s.changes, s.asked)
		if s.listFails {
			text.WriteString(", the list fails")
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// minimise removes the parts of a history that are not needed for it to fail.
func minimise(h *history, fails func(*history) bool) *history {
	for i := range slices.Backward(h.steps) {
		if less := (&history{h.seed, slices.Delete(slices.Clone(h.steps), i, i+1)}); fails(less) {
			h = less
		}
	}
	for i := range h.steps {
		for j := range slices.Backward(h.steps[i].changes) {
			less := &history{h.seed, slices.Clone(h.steps)}
			less.steps[i].changes = slices.Delete(slices.Clone(h.steps[i].changes), j, j+1)
			if fails(less) {
				h = less
			}
		}
	}
	return h
}
