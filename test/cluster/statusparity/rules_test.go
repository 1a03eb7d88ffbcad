//go:build e2e

package statusparity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// rule is a decided difference. Its line in docs/differences.md has the reason.
type rule struct {
	id string
	// drop removes from a part of a status what only one agent writes, and reports whether it removed
	// anything.
	drop func(theirs bool, unit string, is value) bool
	// unit reports whether only one agent writes a whole part.
	unit func(theirs bool, unit string) bool
	// accept reports whether a finding is this difference.
	accept func(f *finding) bool
	// path reports whether a field that only one agent ever writes is this difference.
	path func(theirs bool, path string) bool
}

// rules are the decided differences, by their IDs in docs/differences.md.
var rules = []rule{
	{
		id: "no-resources-in-status",
		drop: func(theirs bool, unit string, is value) bool {
			if !theirs || !strings.HasPrefix(unit, "container ") {
				return false
			}
			n := len(is)
			delete(is, "resources")
			delete(is, "allocatedResources")
			return len(is) < n
		},
		unit: func(theirs bool, unit string) bool {
			return theirs && (unit == "resources" || unit == "allocatedResources")
		},
		path: func(theirs bool, path string) bool {
			return theirs && (strings.Contains(path, ".resources") || strings.Contains(path, ".allocatedResources"))
		},
	},
	{
		id: "never-started-at-no-time",
		drop: func(theirs bool, _ string, is value) (dropped bool) {
			for _, key := range []string{"state", "lastState"} {
				of, _ := is[key].(value)
				if ended, ok := of["terminated"].(value); ok && theirs && ended["startedAt"] == "EPOCH" {
					ended["startedAt"], dropped = nil, true
				}
			}
			return dropped
		},
	},
	{
		id: "last-state-is-of-another",
		accept: func(f *finding) bool {
			ended := f.container().State.Terminated
			return ended != nil && f.container().RestartCount > 0 && f.isBut("lastState")
		},
	},
	{
		id: "waiting-is-said-at-once",
		accept: func(f *finding) bool {
			c := f.container()
			if f.last || c.Name == "" {
				return false
			}
			of := f.life.outcomes[c.Name]
			switch w := c.State.Waiting; {
			case w == nil:
				// The kubelet may have written this at a time when Wardlet wrote that the container waits to
				// restart.
				return f.theirs && f.life.loops(c.Name) && c.State.Terminated != nil
			case w.Reason == "CrashLoopBackOff":
				return f.life.loops(c.Name)
			case w.Reason == "RunContainerError":
				return of == cannotStart
			case w.Reason == "PostStartHookError":
				return f.theirs && f.life.fate == hookFails
			case w.Reason == "ErrImagePull", w.Reason == "ImagePullBackOff":
				return of == cannotPull
			}
			return false
		},
		path: func(theirs bool, path string) bool {
			return !theirs && path == "status.initContainerStatuses[].state.waiting.message"
		},
	},
	{
		id: "each-change-is-said",
		path: func(theirs bool, path string) bool { // Wardlet makes the container before it inspects the pod
			return theirs && path == "status.ephemeralContainerStatuses[].state.waiting.reason"
		},
		accept: func(f *finding) bool {
			if f.last {
				return false
			}
			kind, ok := strings.CutPrefix(f.unit, "condition ")
			if ok && (kind == "Ready" || kind == "ContainersReady") && f.readyIsTrue() {
				return true
			}
			if ok && kind == "Initialized" && f.initializedIsTrue() {
				return true
			}
			if c := f.container(); c.State.Running != nil && !c.Ready && f.isBut("ready", "started") {
				return true // the container is ready when the other agent writes
			}
			if c := f.container(); c.State.Running != nil && f.life.outcomes[c.Name] == exits {
				return true // the container has exited when the other agent inspects the pod
			}
			if c := f.container(); c.State.Terminated != nil && f.life.outcomes[c.Name] == exits {
				return slices.ContainsFunc(f.others, func(other string) bool {
					last := containerOf(other).LastTerminationState.Terminated
					return last != nil && last.ExitCode == c.State.Terminated.ExitCode // the container runs again when the other agent writes
				})
			}
			if f.theirs {
				return false
			}
			if strings.HasPrefix(f.unit, "container ") {
				is := f.container().State
				return is.Running != nil || is.Waiting != nil && is.Waiting.Reason == "" // the container is made but not started
			}
			return f.isBut("observedGeneration") || f.unit == "phase" && f.is == `{"phase":"Running"}`
		},
	},
	{
		id: "over-at-once",
		accept: func(f *finding) bool {
			phase, _ := f.whole["phase"].(value)
			ended := phase["phase"] == string(v1.PodSucceeded) || phase["phase"] == string(v1.PodFailed)
			if f.theirs && ended && f.unit == "condition PodReadyToStartContainers" && strings.Contains(f.is, `"status":"True"`) {
				return true // the object is deleted before the kubelet writes that the sandbox is gone
			}
			if f.last {
				return false
			}
			if f.unit == "condition PodReadyToStartContainers" && strings.Contains(f.is, `"status":"False"`) && slices.ContainsFunc(f.others, func(other string) bool {
				return other == strings.Replace(f.is, `"status":"False"`, `"status":"True"`, 1)
			}) {
				return true // the other agent made the sandbox at once
			}
			if c := f.container(); c.Name != "" {
				w := c.State.Waiting // to be made, and tried at once, or ended
				return w != nil && (w.Reason == "ContainerCreating" || w.Reason == "PodInitializing") && w.Message == "" && c.RestartCount == 0
			}
			if !f.theirs || !strings.HasPrefix(f.unit, "condition ") {
				return false
			}
			deleted := strings.Contains(f.is, `"observedGeneration":2`) && f.isBut("observedGeneration")
			return deleted || f.unit == "condition PodReadyToStartContainers" && f.life.grace != nil && *f.life.grace == 0
		},
	},
	{
		id: "own-words",
		drop: func(theirs bool, _ string, is value) bool {
			state, _ := is["state"].(value)
			for _, of := range state {
				of := of.(value)
				if words := ownWords[fmt.Sprint(of["reason"])]; words[0] != "" {
					begins := words[1]
					if theirs {
						begins = words[0]
					}
					if text, _ := of["message"].(string); strings.HasPrefix(text, begins) {
						of["message"] = "own words"
						return true
					}
				}
			}
			return false
		},
	},
}

// container returns the container that a finding is about, the zero value for another part.
func (f *finding) container() (c v1.ContainerStatus) {
	if strings.HasPrefix(f.unit, "container ") {
		return containerOf(f.is)
	}
	return c
}

// containerOf decodes the status of a container. It ignores errors, and then returns the zero
// value.
func containerOf(text string) (c v1.ContainerStatus) {
	_ = json.Unmarshal([]byte(normal.Replace(text)), &c)
	return c
}

// normal replaces the placeholders of times by times.
var normal = strings.NewReplacer(`"TIME"`, `"2026-01-01T00:00:00Z"`, `"EPOCH"`, "null")

// readyIsTrue reports whether a condition names exactly the containers of its status that are not
// ready. If there are none, the condition must be True or wait for the readiness gates.
func (f *finding) readyIsTrue() bool {
	var unready []string
	for c, kind := range pod.Containers(f.life.pod) {
		is, ok := f.whole["container "+c.Name].(value)
		if ok && (kind == pod.Sidecar || kind == pod.RegularContainer) && is["ready"] != true {
			unready = append(unready, c.Name)
		}
	}
	if unready == nil {
		return strings.Contains(f.is, `"status":"True"`) || strings.Contains(f.is, `"reason":"ReadinessGatesNotReady"`)
	}
	return strings.Contains(f.is, fmt.Sprintf(`"containers with unready status: %v"`, unready))
}

// initializedIsTrue reports whether a condition names exactly the init containers of its status
// that have not completed. A kubelet writes that a sidecar has started before it changes the
// condition.
func (f *finding) initializedIsTrue() bool {
	done := "started"
	if f.theirs {
		done = "ready"
	}
	var incomplete []string
	for c, kind := range pod.Containers(f.life.pod) {
		is, _ := f.whole["container "+c.Name].(value)
		if kind == pod.InitContainer && is["ready"] != true || kind == pod.Sidecar && is[done] != true {
			incomplete = append(incomplete, c.Name)
		}
	}
	return incomplete != nil && strings.Contains(f.is, fmt.Sprintf(`"containers with incomplete status: %v"`, incomplete))
}

// ownWords has, by reason, how messages begin that a kubelet and Wardlet each write in their own
// words.
var ownWords = map[string][2]string{
	"ErrImagePull":       {"rpc error: code = NotFound desc = failed to pull and unpack image", "pull image "},
	"ImagePullBackOff":   {"Back-off pulling image ", "backing off pulling image "},
	"PostStartHookError": {"Exec lifecycle hook ", "exit code "},
	"ContainerStatusUnknown": {
		"The container could not be located when the pod was ", "the runtime no longer knows how this container ended",
	},
}

// isBut reports whether a value equals one of the other agent's values except for some fields.
func (f *finding) isBut(fields ...string) bool {
	without := func(text string) string {
		var is any
		if err := json.Unmarshal([]byte(text), &is); err != nil {
			return text
		}
		of, ok := is.(value)
		if !ok && slices.Contains(fields, f.unit) {
			return ""
		}
		for _, field := range fields {
			delete(of, field)
		}
		return state(of).String()
	}
	return slices.ContainsFunc(f.others, func(other string) bool { return without(other) == without(f.is) })
}
