package mutate

import (
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// Reach is what a policy may change of a pod. The zero value is nothing.
type Reach struct {
	// Paths are the policy's mutable_paths, see CheckPath. What is different
	// must be one of them or below one. One that CheckPath refuses covers
	// nothing.
	Paths []string
	// API says that the pod is an API server's: then containers and volumes
	// cannot be added, removed or renamed, nor can ports, requests and the
	// service account change.
	API bool
	// MutateAPI says that pods of an API server may be changed at all.
	MutateAPI bool
}

// checkForbidden refuses differences with a value in them that no policy may
// change; rule says why.
func checkForbidden(differences []difference, rule func(at pointer) (why string)) error {
	var err error
	look := func(at pointer, _ any) bool {
		if why := rule(at); why != "" {
			err = beyond("it changes %s, which no policy may: %s; have the plugin leave it alone", shown(at.String()), why)
		}
		return err == nil
	}
	for i := range differences {
		d := &differences[i]
		if !each(d.at, d.before, look) || !each(d.at, d.after, look) {
			return err
		}
	}
	return nil
}

// check refuses differences that are not all within reach.
func (r *Reach) check(differences []difference) error {
	if len(differences) == 0 {
		return nil
	}
	if r.API && !r.MutateAPI {
		return beyond("it changes %s of a pod that an API server has, which policies may only where agent.toml says policy.mutate_api = true; "+
			"set that, or have the plugin patch no such pods", shown(differences[0].at.String()))
	}
	if err := checkForbidden(differences, forbidden); err != nil {
		return err
	}
	if r.API {
		if err := checkForbidden(differences, forbiddenOfAPI); err != nil {
			return err
		}
	}
	paths := r.paths()
	for i := range differences {
		d := &differences[i]
		for _, value := range []any{d.before, d.after} {
			if at := uncovered(paths, d.at, value); at != nil {
				return beyond("it changes %s; the policy may change %s: add the path to its mutable_paths, "+
					"or have the plugin leave it alone", shown(at.String()), r.allowed())
			}
		}
	}
	return nil
}

// paths are the mutable paths that can cover anything.
func (r *Reach) paths() []pointer {
	var paths []pointer
	for _, path := range r.Paths {
		if CheckPath(path) == nil {
			at, _ := parsePointer(path)
			paths = append(paths, at)
		}
	}
	return paths
}

// allowed says what the policy may change.
func (r *Reach) allowed() string {
	if len(r.Paths) == 0 {
		return "nothing, its mutable_paths are empty"
	}
	return "only " + printable.Short(strings.Join(r.Paths, ", "), maxShown)
}

// uncovered finds what no mutable path covers of a value that came or went. An
// object or list that is not covered itself is, if it has something and all it
// has is: so labels can be added one by one, also the first.
func uncovered(paths []pointer, at pointer, value any) pointer {
	if value == any(absent{}) {
		return nil
	}
	for _, path := range paths {
		if covers(path, at) {
			return nil
		}
	}
	var missed pointer
	empty := true
	eachBelow(at, value, func(at pointer, value any) bool {
		empty = false
		missed = uncovered(paths, at, value)
		return missed == nil
	})
	if empty {
		return at
	}
	return missed
}
