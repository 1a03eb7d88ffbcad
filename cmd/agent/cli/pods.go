package cli

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// SortPods sorts pods by namespace and name.
func SortPods(pods []v1.Pod) {
	slices.SortStableFunc(pods, func(a, b v1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}

// FileOf returns the place of a document for the user: the file's name alone if the document is the
// first in the file.
func FileOf(document string) string { return strings.TrimSuffix(document, "#0") }
