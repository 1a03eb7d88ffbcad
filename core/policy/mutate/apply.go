package mutate

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Result is the result of a patch.
type Result struct {
	// Pod is the new pod. It shares no mutable data with the old one.
	Pod *v1.Pod
	// Changed are JSON pointers to the differences, sorted, at most 1024. A value
	// that was added or removed as a whole is one pointer. Changed is nil if
	// nothing changed.
	Changed []string
}

// Apply applies an RFC 6902 patch of add, replace, remove and test to a pod, in the
// form in which plugins see it, and returns a new pod. p is never changed. The
// result depends only on the pod, the patch and the reach.
//
// An error is ErrPatch or ErrReach, one line that says what to do, or the error of
// a pod that cannot be written as JSON. The patch is then not applied at all.
func Apply(p *v1.Pod, patch []byte, r Reach) (Result, error) {
	if pod.IsMirror(p) {
		return Result{}, beyond("a mirror pod is the API server's picture of a static pod: patch that one")
	}
	operations, err := readPatch(patch)
	if err != nil {
		return Result{}, err
	}
	before, err := valuesOf(p)
	if err != nil {
		return Result{}, err
	}
	patched, written, err := patchValues(before, operations)
	if err != nil {
		return Result{}, err
	}
	if len(written) == 0 {
		return Result{Pod: p.DeepCopy()}, nil
	}
	after, err := settle(p, patched, r.API)
	if err != nil {
		return Result{}, err
	}
	changed, err := differencesOf(before, after)
	if err != nil {
		return Result{}, err
	}
	if err := r.check(changed); err != nil {
		return Result{}, err
	}
	return Result{Pod: after, Changed: pointersOf(changed)}, nil
}

// patchValues returns the patched document and its differences from the document
// before. Changes that no policy may make are refused here, before the document is
// decoded, because the decoding ignores many of them.
func patchValues(before map[string]any, operations []operation) (map[string]any, []difference, error) {
	s := steps{root: cloned(before)}
	if err := s.applyAll(operations); err != nil {
		return nil, nil, err
	}
	patched, ok := s.root.(map[string]any)
	if !ok {
		return nil, nil, badPatch("it makes %s of the pod", kindOf(s.root))
	}
	written, err := compare(before, patched)
	if err != nil {
		return nil, nil, badPatch("%v", err)
	}
	if err := checkForbidden(written, forbidden); err != nil {
		return nil, nil, err
	}
	return patched, written, checkCosts(written)
}

func differencesOf(before map[string]any, p *v1.Pod) ([]difference, error) {
	after, err := valuesOf(p)
	if err != nil {
		return nil, err
	}
	changed, err := compare(before, after)
	if err != nil {
		return nil, badPatch("%v", err)
	}
	return changed, nil
}

func pointersOf(differences []difference) []string {
	var pointers []string
	for i := range differences {
		pointers = append(pointers, differences[i].at.String())
	}
	slices.Sort(pointers)
	return pointers
}
