package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
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

// turnTimes are about how long a turn of each side takes on two cores, without
// and with the parts that take minutes. They are for showing what is left.
var turnTimes = map[string]struct{ short, long time.Duration }{
	ours:    {35 * time.Second, 195 * time.Second},
	kubelet: {65 * time.Second, 140 * time.Second},
	floor:   {40 * time.Second, 120 * time.Second},
}

// expected is how long a turn of a side takes.
func expected(side string, p parts) time.Duration {
	if p.any(partIdle, partMemory) {
		return turnTimes[side].long
	}
	return turnTimes[side].short
}

// expected is how long all rounds take.
func (o *options) expected() (all time.Duration) {
	for round := range o.rounds {
		all += o.expectedRound(round)
	}
	return all
}

func (o *options) expectedRound(round int) (all time.Duration) {
	for side := range turnTimes {
		all += expected(side, o.every.inRound(round, o.long))
	}
	return all
}

// fits reports whether a round is to be measured, before which so much time has
// passed: at the pace of the rounds before, it ends in time.
func (o *options) fits(round int, passed time.Duration) bool {
	if round == 0 || o.within == 0 {
		return true
	}
	var over time.Duration
	for before := range round {
		over += o.expectedRound(before)
	}
	pace := float64(passed) / float64(over)
	return passed+time.Duration(pace*float64(o.expectedRound(round))) <= o.within
}

// any tells whether one of these is measured.
func (p parts) any(of ...string) bool {
	return slices.ContainsFunc(of, func(part string) bool { return slices.Contains(p, part) })
}
