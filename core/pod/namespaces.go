package pod

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MatchNamespace reports whether a pattern for names of namespaces, in which
// "*" stands for any run of characters, also for none, covers a name. It takes
// time in proportion to the product of both lengths at worst.
func MatchNamespace(pattern, name string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	// A part is best taken at its first place, which leaves most for those
	// that follow. Only the last one must be at the end.
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(name, part)
		}
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
		rest = more
	}
}

// validateNamespace checks that the source may have documents in the pod's
// namespace.
func validateNamespace(p *v1.Pod, allowed []string) field.ErrorList {
	namespace := cmp.Or(p.Namespace, metav1.NamespaceDefault)
	covers := func(pattern string) bool { return MatchNamespace(pattern, namespace) }
	if len(allowed) == 0 || slices.ContainsFunc(allowed, covers) {
		return nil
	}
	return field.ErrorList{field.Forbidden(metadataPath.Child("namespace"), fmt.Sprintf(
		"%q is outside the namespaces of the tenant this source belongs to: %s", namespace, strings.Join(allowed, ", ")))}
}
