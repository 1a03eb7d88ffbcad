package manifest

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/pod"
)

// fieldAnnotations are what pods said before the API had fields for it, as
// prefixes. A kubelet checks them and then ignores them, AppArmor profiles
// excepted.
var fieldAnnotations = []struct{ prefix, hint string }{
	{"container.apparmor.security.beta.kubernetes.io/", "say it in securityContext.appArmorProfile"},
	{"container.seccomp.security.alpha.kubernetes.io/", notYetAField},
	{"seccomp.security.alpha.kubernetes.io/pod", notYetAField},
	{v1.TolerationsAnnotationKey, "say it in spec.tolerations"},
}

const notYetAField = "not supported by this version yet, nor is the field it stands for"

// validateWrittenAnnotations checks the annotations that are the node's, or
// mean something to it.
func validateWrittenAnnotations(annotations map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		switch {
		case strings.HasPrefix(key, "kubernetes.io/config."):
			errs = append(errs, field.Forbidden(annotationsPath.Key(key), "only a node agent writes this annotation"))
		case strings.HasPrefix(key, "wardlet.dev/") && key != pod.AnnotationIdentity:
			errs = append(errs, field.Forbidden(annotationsPath.Key(key), "this version knows no such annotation for documents"))
		}
		for _, old := range fieldAnnotations {
			if strings.HasPrefix(key, old.prefix) {
				errs = append(errs, field.Forbidden(annotationsPath.Key(key), old.hint))
			}
		}
	}
	if identity, ok := annotations[pod.AnnotationIdentity]; ok {
		errs = append(errs, invalid(annotationsPath.Key(pod.AnnotationIdentity), identity, validation.IsDNS1123Label(identity))...)
	}
	if cost, ok := annotations[v1.PodDeletionCost]; ok {
		_, err := strconv.ParseInt(cost, 10, 32)
		if err != nil || cost[0] == '+' || cost[0] == '0' && cost != "0" {
			errs = append(errs, field.Invalid(annotationsPath.Key(v1.PodDeletionCost), cost, "must be a whole number of 32 bits, without a plus sign or leading zeros"))
		}
	}
	return errs
}

// validateAnnotations checks the annotations together. A kubelet counts its
// hash, which is the UID, and puts in the source only afterwards.
func validateAnnotations(p *v1.Pod) field.ErrorList {
	counted := maps.Clone(p.Annotations)
	delete(counted, pod.AnnotationSource)
	if _, ok := counted[pod.AnnotationHash]; ok {
		counted[pod.AnnotationHash] = string(p.UID)
	}
	return apivalidation.ValidateAnnotations(counted, annotationsPath)
}
