package api

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
)

// HoldSuffix ends the ID of a document that stands for its whole file
// ("path#*"). Such a document is always bad, and it means: nothing that was
// read from this file before may be forgotten, for it is not known which pods
// the file holds. It comes when a file cannot be read and when a document of it
// does not say which pod it is: because it cannot be parsed, so that where
// documents begin and end is uncertain, or because it has no name.
const HoldSuffix = "#*"

// Document is one entry of a source as it was last read. Exactly one of Pod, Object
// and Err is set: sources hand over bad documents too, so that the mux can
// keep the last valid version and the operator can see what is wrong.
type Document struct {
	// Source is the name of the source in agent.toml.
	Source string
	// ID names the place within the source. It is "path#index" in a manifest,
	// "path#index.item" for the items of a list (both count from 0), and
	// "path#*" for what stands for all of the manifest (HoldSuffix). Of what is
	// no manifest it is a name without "#".
	ID string
	// Version changes when the content does: a digest of the document's
	// bytes, or the resourceVersion. Equal versions are equal documents.
	Version string
	// Pod is the decoded, defaulted and validated pod, ready to be run.
	Pod *v1.Pod
	// Object is a ConfigMap, Secret or RuntimeClass of a directory of objects; no
	// source of pods has one.
	Object metav1.Object
	// Err says why the document cannot be used.
	Err *DocumentError
	// Claims is, where Err is set, the Identity of the pod that the document
	// would be: its last valid version stays, wherever that stood. It is zero
	// where the document does not say.
	Claims types.NamespacedName
}

// ManifestOf is the path or URL of the manifest that the document of an ID is
// in; ok is false for one that is in none.
func ManifestOf(id string) (path string, ok bool) {
	at := strings.LastIndexByte(id, '#')
	if at < 0 {
		return "", false
	}
	return id[:at], true
}

// CompareDocuments orders IDs for people: those of one manifest as they stand in it,
// what stands for all of it last.
func CompareDocuments(a, b string) int {
	fileA, okA := ManifestOf(a)
	fileB, okB := ManifestOf(b)
	if !okA || !okB || fileA != fileB {
		return cmp.Compare(a, b)
	}
	return cmp.Or(slices.Compare(placeIn(a[len(fileA)+1:]), placeIn(b[len(fileB)+1:])), cmp.Compare(a, b))
}

// placeIn are the numbers of a place in a manifest, "index" or "index.item". What is
// no number comes after all.
func placeIn(place string) (numbers []int) {
	for part := range strings.SplitSeq(place, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return []int{math.MaxInt}
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// Holds reports whether the document stands for its whole manifest, see
// HoldSuffix.
func (d *Document) Holds() bool { return strings.HasSuffix(d.ID, HoldSuffix) }

// Identity is that of the pod, or of the pod that a bad document would be; it is
// zero where that is not known.
func (d *Document) Identity() types.NamespacedName {
	if d.Pod == nil {
		return d.Claims
	}
	return pod.Identity(d.Pod)
}

// DocumentError is a document that cannot be used, with the place to mend.
type DocumentError struct {
	// File is the path (or URL) the document came from.
	File string
	// Line is the 1-based line of the fault, 0 when it is not known.
	Line int
	// Err is the fault.
	Err error
}

// Error renders "file:line: fault", as compilers do, in one line that is safe to
// show: both the name of the file and what the fault quotes are the author's.
func (e *DocumentError) Error() string {
	if e.Line > 0 {
		return printable.Line(fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err))
	}
	return printable.Line(fmt.Sprintf("%s: %v", e.File, e.Err))
}

// Lines renders the faults one by one, each as "file:line: fault".
func (e *DocumentError) Lines() []string {
	all, ok := errors.AsType[*Faults](e.Err)
	if !ok {
		return []string{e.Error()}
	}
	var lines []string
	for i, f := range all.All {
		if i == MaxFaults {
			return append(lines, printable.Line(e.File)+": and more")
		}
		lines = append(lines, (&DocumentError{File: e.File, Line: f.Line, Err: f.Err}).Error())
	}
	return lines
}

// Unwrap returns the fault without its place.
func (e *DocumentError) Unwrap() error { return e.Err }
