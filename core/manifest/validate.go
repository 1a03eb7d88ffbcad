package manifest

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	metadataPath    = field.NewPath("metadata")
	annotationsPath = metadataPath.Child("annotations")
	specPath        = field.NewPath("spec")

	// A UID becomes a directory and part of a cgroup's name.
	validUID = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
)

// validateWritten checks what the node itself fills in: what a document may
// say there, and what it may not.
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

// validate checks a pod that is stamped and defaulted as an API server checks
// one that is created, in the fields that are honoured.
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

// uniqueLabel checks a name that must be a DNS label and not yet taken.
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
