package main

import "github.com/wardlet/wardlet/plugins/sdk"

// Limits of the text about one check: a pod may have thousands of containers, and names of
// any length.
const (
	maxOffenders = 5
	maxShown     = 100
)

// containers are the names of a pod's containers, for messages.
var containers = sdk.Object("spec.@containers[*].name").Lazy()

// report collects what a pod violates.
type report struct {
	profile *profile
	// text describes all violations, for people. ids lists the violated checks, for
	// programs.
	text, ids sdk.Text
	check     *check
	// offenders is the number of parts of the pod that violate the current check.
	offenders int
}

// begin starts the text about a check.
func (r *report) begin(c *check) { r.check, r.offenders = c, 0 }

// offender starts the text about another part of the pod that violates the current check.
// It returns false if the text already names maxOffenders parts.
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

// end ends the text about the current check.
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

// pod reports that the pod itself violates the current check. container reports that a
// container does, by its index among all containers. If they return true, the caller may
// add details with add and set.
func (r *report) pod() bool { return r.part("pod") }

func (r *report) container(i int) bool {
	return r.offender() && r.name("container", containers.At(i).String())
}

// part reports that a part of the pod violates the current check.
func (r *report) part(what string) bool {
	if !r.offender() {
		return false
	}
	r.text.Add(what)
	return true
}

// name adds the kind and the name of the part.
func (r *report) name(what, name string) bool {
	r.text.Add(what, ` "`, cut(name), `"`)
	return true
}

// set adds the forbidden value that was found.
func (r *report) set(value string) { r.text.Add(`: "`, cut(value), `"`) }

// add adds words.
func (r *report) add(words ...string) { r.text.Add(words...) }

// cut shortens a text of the pod. The agent escapes characters that are not printable.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return sdk.Concat(text[:maxShown], "…")
}
