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

// HoldSuffix ends the ID of a document that represents a whole file ("path#*"). Such a document is
// always invalid. It means that it is unknown which pods the file has, so none of its earlier pods
// may be forgotten. A source passes it on if a file cannot be read, or if a document of the file
// does not name its pod: because it has no name, or because it cannot be parsed, so that the limits
// of documents are uncertain.
const HoldSuffix = "#*"

// Document is one entry of a source as it was last read. Exactly one of Pod, Object and Err is set.
// Sources also pass on invalid documents, so that the mux can keep the last valid version and the
// operator can see the fault.
type Document struct {
	// Source is the name of the source in agent.toml.
	Source string
	// ID names the place within the source. In a manifest, it is "path#index", "path#index.item" for
	// the items of a list (both indices count from 0), and "path#*" for the whole manifest
	// (HoldSuffix). In a source without manifests, it is a name without "#".
	ID string
	// Version changes with the content: it is a digest of the document's bytes, or the
	// resourceVersion. Documents with equal versions are equal.
	Version string
	// Pod is the decoded, defaulted and validated pod, ready to be run.
	Pod *v1.Pod
	// Object is a ConfigMap, Secret or RuntimeClass of a directory of objects; no
	// source of pods has one.
	Object metav1.Object
	// Err says why the document cannot be used.
	Err *DocumentError
	// Claims is the Identity of the pod in an invalid document, whose last valid version stays, even
	// if that was at another place. It is zero if Err is nil or the identity is unknown.
	Claims types.NamespacedName
}

// ManifestOf returns the path or URL of the manifest that contains the document with an ID. ok is
// false if the document is in no manifest.
func ManifestOf(id string) (path string, ok bool) {
	at := strings.LastIndexByte(id, '#')
	if at < 0 {
		return "", false
	}
	return id[:at], true
}

// CompareDocuments orders IDs for people: the documents of one manifest in their order, and the
// document for the whole manifest last.
func CompareDocuments(a, b string) int {
	fileA, okA := ManifestOf(a)
	fileB, okB := ManifestOf(b)
	if !okA || !okB || fileA != fileB {
		return cmp.Compare(a, b)
	}
	return cmp.Or(slices.Compare(placeIn(a[len(fileA)+1:]), placeIn(b[len(fileB)+1:])), cmp.Compare(a, b))
}

// placeIn returns the numbers of a place in a manifest, "index" or "index.item". A part that is no
// number is ordered last.
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

// Holds reports whether the document represents its whole manifest, see HoldSuffix.
func (d *Document) Holds() bool { return strings.HasSuffix(d.ID, HoldSuffix) }

// Identity returns the identity of the document's pod, also for an invalid document. It is zero if
// the identity is unknown.
func (d *Document) Identity() types.NamespacedName {
	if d.Pod == nil {
		return d.Claims
	}
	return pod.Identity(d.Pod)
}

// DocumentError is the reason why a document is invalid, with the place of the fault.
type DocumentError struct {
	// File is the path (or URL) the document came from.
	File string
	// Line is the 1-based line of the fault, 0 when it is not known.
	Line int
	// Err is the fault.
	Err error
}

// Error renders "file:line: fault", as compilers do, in one line of printable text: the author of
// the document chose the file's name and the quoted text.
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
