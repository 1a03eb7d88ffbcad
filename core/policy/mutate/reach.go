package mutate

import (
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// Reach is what a policy may change in a pod. The zero value allows no change.
type Reach struct {
	// Paths are the policy's mutable_paths, see CheckPath. Each difference must be
	// at or below one of them. A path that CheckPath refuses covers nothing.
	Paths []string
	// API reports whether the pod is from an API server. Its containers and volumes
	// then cannot be added, removed or renamed, and its ports, requests and service
	// account cannot change.
	API bool
	// MutateAPI reports whether pods from an API server may be changed at all.
	MutateAPI bool
}

// checkForbidden refuses differences that contain a value which no policy may
// change. rule returns why a value must not change, empty if it may.
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

// check refuses the differences unless all are within reach.
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

// paths returns the mutable paths that are valid.
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

// allowed describes what the policy may change.
func (r *Reach) allowed() string {
	if len(r.Paths) == 0 {
		return "nothing, its mutable_paths are empty"
	}
	return "only " + printable.Short(strings.Join(r.Paths, ", "), maxShown)
}

// uncovered returns the first place in an added or removed value that no mutable
// path covers, nil if all is covered. An object or list is also covered if it is
// not empty and all its members are covered: so labels can be added one by one,
// including the first.
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
