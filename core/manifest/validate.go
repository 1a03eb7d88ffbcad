package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/pod"
)

var (
	metadataPath    = field.NewPath("metadata")
	annotationsPath = metadataPath.Child("annotations")
	specPath        = field.NewPath("spec")

	// A UID becomes a directory and part of a cgroup's name.
	validUID = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
)

// validateWritten checks the fields of a document that the node itself sets.
func validateWritten(p *v1.Pod, node string) field.ErrorList {
	var errs field.ErrorList
	if p.Name == "" {
		errs = append(errs, field.Required(metadataPath.Child("name"), ""))
	}
	if p.UID != "" && !validUID.MatchString(string(p.UID)) {
		errs = append(errs, field.Invalid(metadataPath.Child("uid"), p.UID,
			"must be at most 63 letters, digits and dashes, and begin and end with a letter or digit"))
	}
	if name := p.Spec.NodeName; name != "" && name != node {
		errs = append(errs, field.Invalid(specPath.Child("nodeName"), name, fmt.Sprintf("this node is %q", node)))
	}
	return append(errs, validateWrittenAnnotations(p.Annotations)...)
}

// validate checks the supported fields of a stamped and defaulted pod as an API server checks a
// created pod.
func validate(p *v1.Pod) field.ErrorList {
	errs := invalid(metadataPath.Child("name"), p.Name, apivalidation.NameIsDNSSubdomain(p.Name, false))
	errs = append(errs, invalid(metadataPath.Child("namespace"), p.Namespace, apivalidation.ValidateNamespaceName(p.Namespace, false))...)
	errs = append(errs, validateLabels(p.Labels, metadataPath.Child("labels"))...)
	errs = append(errs, validateAnnotations(p)...)

	s := &p.Spec
	errs = append(errs, oneOf(specPath.Child("restartPolicy"), s.RestartPolicy,
		v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever)...)
	errs = append(errs, apivalidation.ValidateNonnegativeField(*s.TerminationGracePeriodSeconds,
		specPath.Child("terminationGracePeriodSeconds"))...)
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(specPath.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	errs = append(errs, validateOS(s)...)
	errs = append(errs, validatePodSecurity(s, specPath.Child("securityContext"))...)
	errs = append(errs, validateNames(s)...)
	errs = append(errs, validateOverhead(s.Overhead, specPath.Child("overhead"))...)
	errs = append(errs, validatePodResources(s, specPath.Child("resources"))...)
	volumes, more := validateVolumes(s.Volumes, specPath.Child("volumes"))
	errs = append(errs, more...)
	return append(errs, validateContainers(s, volumes)...)
}

// invalid returns one error for each message.
func invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, m := range messages {
		errs = append(errs, field.Invalid(path, value, m))
	}
	return errs
}

func oneOf[T ~string](path *field.Path, value T, valid ...T) field.ErrorList {
	if slices.Contains(valid, value) {
		return nil
	}
	slices.Sort(valid)
	return field.ErrorList{field.NotSupported(path, value, valid)}
}

// uniqueLabel checks a name that must be a DNS label and not yet used.
func uniqueLabel(path *field.Path, name string, taken map[string]bool) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	case taken[name]:
		return field.ErrorList{field.Duplicate(path, name)}
	}
	taken[name] = true
	return invalid(path, name, validation.IsDNS1123Label(name))
}

// fieldAnnotations are the annotations that pods used before the API had fields for them, as
// prefixes. A kubelet validates them and then ignores them, except AppArmor profiles.
var fieldAnnotations = []struct{ prefix, hint string }{
	{"container.apparmor.security.beta.kubernetes.io/", "say it in securityContext.appArmorProfile"},
	{"container.seccomp.security.alpha.kubernetes.io/", notYetAField},
	{"seccomp.security.alpha.kubernetes.io/pod", notYetAField},
	{v1.TolerationsAnnotationKey, "say it in spec.tolerations"},
}

const notYetAField = "not supported by this version yet, nor is the field it stands for"

// validateWrittenAnnotations checks the annotations that belong to the node or have a meaning for
// it.
func validateWrittenAnnotations(annotations map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		switch {
		case strings.HasPrefix(key, "kubernetes.io/config."):
			errs = append(errs, field.Forbidden(annotationsPath.Key(key), "only a node agent writes this annotation"))
		case key == pod.AnnotationOnDisconnect:
			errs = append(errs, field.Forbidden(annotationsPath.Key(key), "only pods of an API server may have it; no other source needs a cluster"))
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

// validateAnnotations checks the annotations together. A kubelet includes its hash, which is the
// UID, in the size, and adds the source annotation only later.
func validateAnnotations(p *v1.Pod) field.ErrorList {
	counted := maps.Clone(p.Annotations)
	delete(counted, pod.AnnotationSource)
	if _, ok := counted[pod.AnnotationHash]; ok {
		counted[pod.AnnotationHash] = string(p.UID)
	}
	return apivalidation.ValidateAnnotations(counted, annotationsPath)
}

// validateLabels checks the labels, one by one and together.
func validateLabels(labels map[string]string, at *field.Path) field.ErrorList {
	size := 0
	for key, value := range labels {
		size += len(key) + len(value) + pod.EntryCost
	}
	if size > pod.MaxLabels {
		long := field.TooLong(at, "", pod.MaxLabels)
		long.Detail += " together; put what nothing selects by into annotations"
		return field.ErrorList{long}
	}
	return metavalidation.ValidateLabels(labels, at)
}

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

// validateOS checks that spec.os.name is valid, and that a Windows pod sets no field that Windows
// does not have.
func validateOS(s *v1.PodSpec) field.ErrorList {
	at := specPath.Child("os", "name")
	switch {
	case s.OS == nil:
		return nil
	case s.OS.Name == "":
		return field.ErrorList{field.Required(at, "")}
	case s.OS.Name != v1.Windows:
		return oneOf(at, s.OS.Name, v1.Linux, v1.Windows)
	}
	var errs field.ErrorList
	forbid := func(set bool, at *field.Path) {
		if set {
			errs = append(errs, field.Forbidden(at, "cannot be set for a windows pod"))
		}
	}
	forbid(s.HostUsers != nil, specPath.Child("hostUsers"))
	forbid(s.HostPID, specPath.Child("hostPID"))
	forbid(s.HostIPC, specPath.Child("hostIPC"))
	forbid(s.ShareProcessNamespace != nil, specPath.Child("shareProcessNamespace"))
	forbid(s.Resources != nil, specPath.Child("resources"))
	if c := s.SecurityContext; c != nil {
		forbid(c.AppArmorProfile != nil, specPath.Child("securityContext", "appArmorProfile"))
		forbid(len(c.Sysctls) > 0, specPath.Child("securityContext", "sysctls"))
	}
	forbidAll := func(list []v1.Container, path *field.Path) {
		for i := range list {
			c, at := list[i].SecurityContext, path.Index(i).Child("securityContext")
			if c == nil {
				continue
			}
			forbid(c.AppArmorProfile != nil, at.Child("appArmorProfile"))
			forbid(c.Privileged != nil, at.Child("privileged"))
			forbid(c.AllowPrivilegeEscalation != nil, at.Child("allowPrivilegeEscalation"))
			forbid(c.ReadOnlyRootFilesystem != nil, at.Child("readOnlyRootFilesystem"))
		}
	}
	forbidAll(s.Containers, specPath.Child("containers"))
	forbidAll(s.InitContainers, specPath.Child("initContainers"))
	return errs
}
