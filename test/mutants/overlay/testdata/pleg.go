package pleg

import (
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/mutants"
)

// seeded is what a fault remembers of one generator.
type seeded struct{}

// fault is one way to be wrong: with what is told, with a list that comes in,
// or with what an inspection leaves behind.
type fault struct {
	told  func([]Event) []Event
	list  func(*Generator, *list)
	after func(*Generator, *record, *inspection)
}

// on is the fault that is switched on in all generators.
var on = mutants.Register("pleg", faults)

func (seeded) events(e []Event) []Event {
	if f := on.Fault().told; f != nil {
		return f(slices.Clone(e))
	}
	return e
}

func (seeded) listed(g *Generator, l *list) {
	if f := on.Fault().list; f != nil {
		l.pods = slices.Clone(l.pods)
		f(g, l)
	}
}

func (seeded) inspected(g *Generator, rec *record, i *inspection) {
	if f := on.Fault().after; f != nil {
		g.cfg.Cache.mu.Lock()
		defer g.cfg.Cache.mu.Unlock()
		f(g, rec, i)
	}
}

// Faults of the last kind hold the cache's lock.
var faults = map[string]fault{
	"event-lost":             {told: func(e []Event) []Event { return e[:max(0, len(e)-1)] }},
	"event-twice":            {told: func(e []Event) []Event { return append(e, e...) }},
	"events-in-wrong-order":  {told: func(e []Event) []Event { slices.Reverse(e); return e }},
	"sync-forgotten":         {told: without(func(_ []Event, e Event) bool { return e.Type == PodSync })},
	"died-without-removed":   {told: without(func(_ []Event, e Event) bool { return e.Type == ContainerRemoved })},
	"removed-without-died":   {told: without(func(all []Event, e Event) bool { return e.Type == ContainerDied && removed(all, e) })},
	"change-to-unknown-told": {told: func(e []Event) []Event { return rename(e, containerChanged, ContainerStarted) }},

	"cache-time-too-new": {list: func(_ *Generator, l *list) { l.at = l.at.Add(time.Second) }},
	"sandbox-ignored": {list: func(_ *Generator, l *list) {
		for i := range l.pods {
			if len(l.pods[i].Containers) > 0 {
				l.pods[i].Sandboxes = nil
			}
		}
	}},
	"removal-of-pod-lost": {list: func(g *Generator, l *list) {
		for uid := range g.records {
			if !slices.ContainsFunc(l.pods, func(p status.ObservedPod) bool { return p.UID == uid }) {
				p, _ := g.cfg.Cache.Get(uid)
				l.pods = append(l.pods, p)
			}
		}
	}},
	"unchanged-inspected": {list: func(g *Generator, l *list) {
		if len(l.pods) > 0 {
			g.record(l.pods[0].UID).failed = true
		}
	}},

	"inspection-too-new": {after: func(g *Generator, _ *record, i *inspection) {
		e := g.cfg.Cache.entries[i.uid]
		e.at = e.at.Add(2 * time.Second)
	}},
	"error-not-cached": {after: func(g *Generator, _ *record, i *inspection) { g.cfg.Cache.entries[i.uid].err = nil }},
	"reinspection-forgotten": {after: func(_ *Generator, rec *record, i *inspection) {
		if i.err != nil {
			rec.failed, rec.old = false, rec.current
		}
	}},
	"failure-not-remembered": {after: func(_ *Generator, rec *record, _ *inspection) { rec.failed = false }},
	"addresses-forgotten":    {after: func(g *Generator, _ *record, i *inspection) { g.cfg.Cache.entries[i.uid].pod.IPs = i.pod.IPs }},
	"failure-empties-pod":    {after: func(g *Generator, _ *record, i *inspection) { forgetFailed(g, i) }},
}

func forgetFailed(g *Generator, i *inspection) {
	if i.err != nil {
		g.cfg.Cache.entries[i.uid].pod = status.ObservedPod{UID: i.uid}
	}
}

func without(these func(all []Event, e Event) bool) func([]Event) []Event {
	return func(e []Event) []Event {
		all := slices.Clone(e)
		return slices.DeleteFunc(e, func(e Event) bool { return these(all, e) })
	}
}

func removed(all []Event, e Event) bool {
	return slices.Contains(all, Event{UID: e.UID, Type: ContainerRemoved, ContainerID: e.ContainerID})
}

func rename(e []Event, from, to EventType) []Event {
	for i := range e {
		if e[i].Type == from {
			e[i].Type = to
		}
	}
	return e
}
