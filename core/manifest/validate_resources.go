package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// isExtendedResource reports whether the name is one that nodes may have beside
// what the API knows itself: it has the domain of its vendor.
func isExtendedResource(name v1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), v1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(string(name), v1.DefaultResourceRequestsPrefix)
}

// validateResources checks the names that the table of supported fields has, and
// the quantities.
func validateResources(r *v1.ResourceRequirements, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		errs = append(errs, validateQuantity(name, r.Limits[name], at.Child("limits").Key(string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request, at, limitAt := r.Requests[name], at.Child("requests").Key(string(name)), at.Child("limits").Key(string(name))
		errs = append(errs, validateQuantity(name, request, at)...)
		limit, limited := r.Limits[name]
		switch {
		case !limited && isExtendedResource(name):
			errs = append(errs, field.Required(limitAt, "an extended resource needs a limit, which is the request"))
		case limited && isExtendedResource(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at, request.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}

// validateOverhead checks what a sandbox takes beside the containers.
func validateOverhead(overhead v1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(overhead)) {
		errs = append(errs, validateQuantity(name, overhead[name], at.Key(string(name)))...)
	}
	return errs
}

// validateQuantity checks how much of a resource is asked for. Extended ones are
// counted, and their names become those of quotas.
func validateQuantity(name v1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be greater than or equal to 0"))
	}
	if !isExtendedResource(name) {
		return errs
	}
	if messages := validation.IsQualifiedName(string(name)); len(messages) > 0 {
		errs = append(errs, invalid(at, name, messages)...)
	} else {
		errs = append(errs, invalid(at, name, validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+string(name)))...)
	}
	if q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be an integer"))
	}
	return errs
}
