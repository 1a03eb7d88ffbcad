package mutate

import (
	"errors"
	"fmt"
)

// anyElement in a mutable path stands for any single element of a pointer.
const anyElement = "*"

// CheckPath returns an error if one of a policy's mutable_paths is not valid. It
// must be a JSON pointer to a field of pods, or to a part of one, that policies may
// change. An element "*" stands for any single element: "/spec/containers/*/image".
// The error is one line.
func CheckPath(path string) error {
	at, err := parsePointer(path)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", shown(path), err)
	case len(at) == 0:
		return errors.New(`"": this is the whole pod; name what may change, such as "/metadata/labels" or "/spec"`)
	}
	if why := forbidden(at); why != "" {
		return fmt.Errorf("%s: no policy may change this: %s; leave it out", shown(path), why)
	}
	t := podType
	for i, token := range at {
		below, ok := typeBelow(t, token)
		if !ok {
			return fmt.Errorf("%s: pods have no %s in %s; name a field as a manifest does, an element of a list by * or its index",
				shown(path), shown(token), place(at[:i]))
		}
		t = below
	}
	return nil
}

func place(at pointer) string {
	if len(at) == 0 {
		return "the pod"
	}
	return shown(at.String())
}

// covers reports whether a mutable path is the place of a pointer, or above it.
func covers(path, at pointer) bool {
	if len(path) > len(at) {
		return false
	}
	for i, token := range path {
		if token != at[i] && token != anyElement {
			return false
		}
	}
	return true
}
