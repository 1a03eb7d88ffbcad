package main

import (
	"fmt"
	"slices"
	"strings"
)

// The parts; doc.go says what they measure.
const (
	partStart   = "start"
	partUpdate  = "update"
	partBurst   = "burst"
	partRestart = "restart"
	partDelete  = "delete"
	partIdle    = "idle"
	partMemory  = "memory"

	allParts = "start,update,burst,restart,delete,idle,memory"
)

// parts are those that are measured.
type parts []string

// parseParts takes a list with commas; none is all.
func parseParts(list string) (parts, error) {
	if list == "" {
		list = allParts
	}
	chosen := parts(strings.Split(list, ","))
	for _, part := range chosen {
		if !slices.Contains(strings.Split(allParts, ","), part) {
			return nil, fmt.Errorf("no part is named %q; they are %s", part, allParts)
		}
	}
	return chosen, nil
}

// inRound are those of a round, of which the first have all and the others
// none that take minutes. For 0 all have all.
func (p parts) inRound(round, long int) parts {
	if long == 0 || round < long {
		return p
	}
	return slices.DeleteFunc(slices.Clone(p), func(part string) bool { return part == partIdle || part == partMemory })
}

// any tells whether one of these is measured.
func (p parts) any(of ...string) bool {
	return slices.ContainsFunc(of, func(part string) bool { return slices.Contains(p, part) })
}
