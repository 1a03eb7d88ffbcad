package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/pod"
)

// validateNamespace checks that the source may have documents in the pod's
// namespace.
func validateNamespace(p *v1.Pod, allowed []string) field.ErrorList {
	namespace := cmp.Or(p.Namespace, metav1.NamespaceDefault)
	covers := func(pattern string) bool { return pod.MatchNamespace(pattern, namespace) }
	if len(allowed) == 0 || slices.ContainsFunc(allowed, covers) {
		return nil
	}
	return field.ErrorList{field.Forbidden(metadataPath.Child("namespace"), fmt.Sprintf(
		"%q is outside the namespaces of the tenant this source belongs to: %s", namespace, strings.Join(allowed, ", ")))}
}
