package runtime

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/wardlet/wardlet/core/pod"
)

// maxListed bounds the annotations that a pod has on its sandbox, and each one that is
// made of a container's definition, in bytes. A runtime lists all sandboxes of the node
// in one message, containerd in one of at most 16 MiB: were it longer, no pod of the
// node could be seen any more. With [pod.MaxLabels] it holds 200 sandboxes.
const maxListed = 16 << 10

// maxNamed is how many annotations that are left off a notice names.
const maxNamed = 3

// listable are the annotations of a pod that its sandbox gets, with a notice where
// that is not all: the shortest, and always whose the pod is.
func listable(annotations map[string]string) (map[string]string, []notice) {
	keys := slices.SortedFunc(maps.Keys(annotations), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a)+len(annotations[a]), len(b)+len(annotations[b])), cmp.Compare(a, b))
	})
	kept, size := make(map[string]string, len(keys)), 0
	var left []string
	for _, key := range keys {
		size += len(key) + len(annotations[key]) + pod.EntryCost
		if size <= maxListed || key == pod.AnnotationSource {
			kept[key] = annotations[key]
		} else {
			left = append(left, key)
		}
	}
	if len(left) == 0 {
		return kept, nil
	}
	return kept, []notice{{
		reason: "AnnotationsTooLong",
		message: fmt.Sprintf("the annotations have more than %d bytes together: %d of them, the longest, are not on the sandbox, where CNI plugins and the runtime would read them (%q); shorten them if these need them",
			maxListed, len(left), left[max(len(left)-maxNamed, 0):]),
	}}
}
