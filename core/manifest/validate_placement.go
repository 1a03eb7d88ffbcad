package manifest

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePlacement checks what a pod says of the nodes it may be on. Of its own
// pods an API server has checked that, by the rules of its version.
func validatePlacement(s *v1.PodSpec) field.ErrorList {
	errs := metavalidation.ValidateLabels(s.NodeSelector, specPath.Child("nodeSelector"))
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		errs = append(errs, validateNodeAffinity(s.Affinity.NodeAffinity, specPath.Child("affinity", "nodeAffinity"))...)
	}
	return append(errs, validateTolerations(s.Tolerations, specPath.Child("tolerations"))...)
}

func validateNodeAffinity(a *v1.NodeAffinity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		if len(required.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(at, "must have at least one node selector term"))
		}
		for i := range required.NodeSelectorTerms {
			errs = append(errs, validateNodeTerm(&required.NodeSelectorTerms[i], true, at.Index(i))...)
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		preferred, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		if preferred.Weight < 1 || preferred.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), preferred.Weight, "must be in the range 1-100"))
		}
		errs = append(errs, validateNodeTerm(&preferred.Preference, false, at.Child("preference"))...)
	}
	return errs
}

// validateNodeTerm checks one alternative. strict is false for what is only
// preferred: there the values of labels may be any text.
func validateNodeTerm(term *v1.NodeSelectorTerm, strict bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range term.MatchExpressions {
		errs = append(errs, validateLabelRequirement(&term.MatchExpressions[i], strict, at.Child("matchExpressions").Index(i))...)
	}
	for i := range term.MatchFields {
		errs = append(errs, validateFieldRequirement(&term.MatchFields[i], at.Child("matchFields").Index(i))...)
	}
	return errs
}

func validateLabelRequirement(r *v1.NodeSelectorRequirement, strict bool, at *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabelName(r.Key, at.Child("key"))
	values := at.Child("values")
	switch r.Operator {
	case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(values, "must be one value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	for i, value := range r.Values {
		if strict {
			errs = append(errs, invalid(values.Index(i), value, validation.IsValidLabelValue(value))...)
		}
	}
	return errs
}

// validateFieldRequirement checks what is asked of a node's name: the API knows
// no other field of it here.
func validateFieldRequirement(r *v1.NodeSelectorRequirement, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !slices.Contains([]v1.NodeSelectorOperator{v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn}, r.Operator) {
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator for fields"))
	} else if len(r.Values) != 1 {
		errs = append(errs, field.Required(at.Child("values"), "must be one value when `operator` is 'In' or 'NotIn' for a field of nodes"))
	}
	if r.Key != "metadata.name" {
		return append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
	}
	for i, value := range r.Values {
		errs = append(errs, invalid(at.Child("values").Index(i), value, apivalidation.NameIsDNSSubdomain(value, false))...)
	}
	return errs
}

func validateTolerations(tolerations []v1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range tolerations {
		t, at := &tolerations[i], at.Index(i)
		switch {
		case t.Key != "":
			errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		case t.Operator != v1.TolerationOpExists:
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "must be Exists when `key` is empty, which means all keys and values"))
		}
		if t.TolerationSeconds != nil && t.Effect != v1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "must be NoExecute when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case v1.TolerationOpEqual, "":
			if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
				errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(messages, "; ")))
			}
		case v1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(at.Child("value"), t.Value, "must be empty when `operator` is Exists"))
			}
		default:
			errs = append(errs, oneOf(at.Child("operator"), t.Operator, v1.TolerationOpEqual, v1.TolerationOpExists)...)
		}
		if t.Effect != "" {
			errs = append(errs, oneOf(at.Child("effect"), t.Effect,
				v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)...)
		}
	}
	return errs
}
