//go:build e2e

package statusparity

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// finding is a value that one agent wrote for a pod and the other did not.
type finding struct {
	life *life
	// last is true if the value is in the last status, false if in an earlier one.
	last bool
	// theirs is true if the kubelet wrote the value, false if Wardlet did.
	theirs bool
	unit   string
	// is has what this agent wrote. others are what the other wrote in the same stretch of the
	// pod's life.
	is     string
	others []string
	// whole is the status that the value is a part of.
	whole state
}

func (f *finding) String() string {
	side := "wardlet"
	if f.theirs {
		side = "kubelet"
	}
	when := "in between"
	if f.last {
		when = "at last"
	}
	return fmt.Sprintf("%s: %s: only the %s writes\n\t%s\nthe other\n\t%s", when, f.unit, side, short(f.is), short(strings.Join(f.others, "\n\t")))
}

// short removes from a part of a status what nearly every such part has.
func short(text string) string { return usual.ReplaceAllString(text, "") }

var usual = regexp.MustCompile(`"(image|imageID|containerID)":"[^"]*",|"lastProbeTime":null,|"lastTransitionTime":"TIME",|` +
	`,"user":\{"linux":\{"gid":0,"supplementalGroups":\[0,10\],"uid":0\}\}|,"volumeMounts":\[[^]]*\]`)

// compare returns the differences between the two histories of a pod. merged is how many states
// only one agent has that merely combine values that both wrote.
func compare(l *life, theirs, ours *history) (found []finding, merged int) {
	a, b := theirs.final(), ours.final()
	for _, unit := range units(a, b) {
		if a.text(unit) != b.text(unit) {
			found = append(found, finding{l, true, true, unit, a.text(unit), []string{b.text(unit)}, a})
		}
	}
	for _, part := range stretches(theirs.states, ours.states) {
		for i, side := range [][2][]state{{part.theirs, part.ours}, {part.ours, part.theirs}} {
			others := slices.Concat(part.ends, side[1])
			for _, s := range side[0] {
				strange := strangers(l, i == 0, s, others)
				if strange == nil {
					merged++
				}
				found = append(found, strange...)
			}
		}
	}
	return unique(found), merged
}

// strangers returns the parts of a state that no other state has.
func strangers(l *life, theirs bool, s state, others []state) (found []finding) {
	for unit := range s {
		seen := map[string]bool{}
		for _, o := range others {
			seen[o.text(unit)] = true
		}
		if !seen[s.text(unit)] {
			found = append(found, finding{l, false, theirs, unit, s.text(unit), slices.Sorted(maps.Keys(seen)), s})
		}
	}
	return found
}

func unique(found []finding) (all []finding) {
	seen := map[string]bool{}
	for i := range found {
		if text := found[i].String(); !seen[text] {
			seen[text] = true
			all = append(all, found[i])
		}
	}
	slices.SortFunc(all, func(x, y finding) int { return strings.Compare(x.String(), y.String()) })
	return all
}

// stretch is the part of two histories between two states that both have.
type stretch struct{ ends, theirs, ours []state }

// stretches divides two histories at the longest sequence of states that they share.
func stretches(a, b []state) (all []stretch) {
	same := func(i, j int) bool { return a[i].String() == b[j].String() }
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if same(i, j) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	now := stretch{}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && same(i, j):
			now.ends = append(now.ends, a[i])
			all = append(all, now)
			now = stretch{ends: []state{a[i]}}
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			now.theirs = append(now.theirs, a[i])
			i++
		default:
			now.ours = append(now.ours, b[j])
			j++
		}
	}
	return append(all, now)
}
