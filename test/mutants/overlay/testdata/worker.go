package worker

import (
	"time"

	"github.com/wardlet/wardlet/test/mutants"
)

// fault is one way to be wrong: with a grace period, given the one in force, with the
// time from which on an observation is news, with what is stopped, with when a failed
// turn is tried again, or by forgetting something.
type fault struct {
	grace   func(current, seconds int64) int64
	acted   func(time.Time) time.Time
	stops   func([]StopContainer) []StopContainer
	delay   func(time.Duration) time.Duration
	forgets string
}

// on is the fault that is switched on.
var on = mutants.Register("worker", faults)

func seededGrace(current, seconds int64) int64 {
	if f := on.Fault().grace; f != nil {
		return f(current, seconds)
	}
	return seconds
}

func seededActed(t time.Time) time.Time {
	if f := on.Fault().acted; f != nil {
		return f(t)
	}
	return t
}

func seededStops(all []StopContainer) []StopContainer {
	if f := on.Fault().stops; f != nil {
		return f(all)
	}
	return all
}

func seededDelay(d time.Duration) time.Duration {
	if f := on.Fault().delay; f != nil {
		return f(d)
	}
	return d
}

func forgets(what string) bool { return on.Fault().forgets == what }

func seededFailed(why string) string {
	if forgets("a probe has failed") {
		return ""
	}
	return why
}

var faults = map[string]fault{
	"grace-grown":              {grace: func(_, seconds int64) int64 { return seconds + 1 }},
	"grace-never-shrinks":      {grace: func(current, seconds int64) int64 { return max(current, seconds) }},
	"acts-on-what-was-before":  {acted: func(time.Time) time.Time { return time.Time{} }},
	"container-not-stopped":    {stops: func(all []StopContainer) []StopContainer { return all[:max(0, len(all)-1)] }},
	"failed-turn-not-repeated": {delay: func(time.Duration) time.Duration { return 24 * time.Hour }},

	"same-uid-add-forgotten":    {forgets: "the pod is to come back"},
	"restart-request-ignored":   {forgets: "the pod was created again"},
	"static-exclusion-skipped":  {forgets: "static pods of one name exclude each other"},
	"predecessor-not-awaited":   {forgets: "another pod has to leave first"},
	"ended-pod-starts-again":    {forgets: "how the pod ended"},
	"definition-change-ignored": {forgets: "what a container runs as"},
	"ends-without-looking":      {forgets: "what runs has to be stopped"},

	"next-before-init-ends":     {forgets: "an init container has to end"},
	"init-runs-again":           {forgets: "an init container has ended well"},
	"sidecar-start-not-awaited": {forgets: "a sidecar has to start"},
	"sidecar-stops-at-once":     {forgets: "sidecars stop last"},
	"sidecar-stops-on-failure":  {forgets: "another could not be stopped"},
	"sidecar-outlives-its-pod":  {forgets: "a pod that has ended"},
	"ephemeral-starts-again":    {forgets: "an ephemeral container has run"},
	"failed-probe-ignored":      {forgets: "a probe has failed"},
	"post-start-skipped":        {forgets: "a hook after the start"},
	"pre-stop-skipped":          {forgets: "a hook before the end"},
}
