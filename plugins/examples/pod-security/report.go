package main

import "github.com/wardlet/wardlet/plugins/sdk"

// Bounds of what is said of one check: a pod may have thousands of containers,
// and names of any length.
const (
	maxOffenders = 5
	maxShown     = 100
)

// containers are the names of a pod's containers, for messages.
var containers = sdk.Object("spec.@containers[*].name").Lazy()

// report collects what a pod violates.
type report struct {
	profile *profile
	// text is all of it for people, ids are the checks for programs.
	text, ids sdk.Text
	check     *check
	// offenders counts the violators of the check at hand.
	offenders int
}

// begin goes on to a check.
func (r *report) begin(c *check) { r.check, r.offenders = c, 0 }

// offender begins the text about one more violator of the check at hand. It
// returns false if there is no room for more of them.
func (r *report) offender() bool {
	r.offenders++
	switch {
	case r.offenders > maxOffenders:
		return false
	case r.offenders > 1:
		r.text.Add(", ")
		return true
	case r.text.Len() > 0:
		r.text.Add("; ")
		r.ids.Add(",")
	}
	r.text.Add(r.check.id, ": ", r.check.rule, " (")
	r.ids.Add(r.check.id)
	return true
}

// end closes what is said of the check at hand.
func (r *report) end() {
	if more := r.offenders - maxOffenders; more > 0 {
		r.text.Add(" and ")
		r.text.AddInt(int64(more))
		r.text.Add(" more")
	}
	if r.offenders > 0 {
		r.text.Add(")")
	}
}

// pod reports the pod itself, and container one of its containers, by its place
// among all of them. Where they are true, add and set may say more.
func (r *report) pod() bool { return r.part("pod") }

func (r *report) container(i int) bool {
	return r.offender() && r.name("container", containers.At(i).String())
}

// part reports a part of the pod.
func (r *report) part(what string) bool {
	if !r.offender() {
		return false
	}
	r.text.Add(what)
	return true
}

// name says whose part is meant.
func (r *report) name(what, name string) bool {
	r.text.Add(what, ` "`, cut(name), `"`)
	return true
}

// set says to what the offender sets what is forbidden.
func (r *report) set(value string) { r.text.Add(`: "`, cut(value), `"`) }

// add says it in words.
func (r *report) add(words ...string) { r.text.Add(words...) }

// cut shortens a text of the pod. What is not printable the agent escapes.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return sdk.Concat(text[:maxShown], "…")
}
