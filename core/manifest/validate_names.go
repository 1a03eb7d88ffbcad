package manifest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of a DNS resolver's configuration, as in the API.
const (
	maxNameservers = 3
	maxSearches    = 32
	maxSearchChars = 2048
	// maxOverride is the length of the longest host name in the kernel.
	maxOverride = 64
)

// validateNames checks the pod's host name, its DNS configuration, its readiness gates and the name
// of its runtime class.
func validateNames(s *v1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	if s.Hostname != "" {
		errs = append(errs, invalid(specPath.Child("hostname"), s.Hostname, validation.IsDNS1123Label(s.Hostname))...)
	}
	if s.Subdomain != "" {
		errs = append(errs, invalid(specPath.Child("subdomain"), s.Subdomain, validation.IsDNS1123Label(s.Subdomain))...)
	}
	errs = append(errs, validateOverride(s, specPath.Child("hostnameOverride"))...)
	if class := s.RuntimeClassName; class != nil {
		errs = append(errs, invalid(specPath.Child("runtimeClassName"), *class, validation.IsDNS1123Subdomain(*class))...)
	}
	for i := range s.ReadinessGates {
		at := specPath.Child("readinessGates").Index(i).Child("conditionType")
		errs = append(errs, invalid(at, s.ReadinessGates[i].ConditionType, validation.IsQualifiedName(string(s.ReadinessGates[i].ConditionType)))...)
	}
	for i := range s.HostAliases {
		a, at := &s.HostAliases[i], specPath.Child("hostAliases").Index(i)
		errs = append(errs, validateIP(a.IP, at.Child("ip"))...)
		for j, name := range a.Hostnames {
			errs = append(errs, invalid(at.Child("hostnames").Index(j), name, validation.IsDNS1123Subdomain(name))...)
		}
	}
	errs = append(errs, oneOf(specPath.Child("dnsPolicy"), s.DNSPolicy,
		v1.DNSClusterFirst, v1.DNSClusterFirstWithHostNet, v1.DNSDefault, v1.DNSNone)...)
	return append(errs, validateDNSConfig(s, specPath.Child("dnsConfig"))...)
}

func validateOverride(s *v1.PodSpec, at *field.Path) field.ErrorList {
	if s.HostnameOverride == nil {
		return nil
	}
	var errs field.ErrorList
	if s.SetHostnameAsFQDN != nil && *s.SetHostnameAsFQDN {
		errs = append(errs, field.Forbidden(at, "may not be specified when setHostnameAsFQDN is true"))
	}
	if s.HostNetwork {
		errs = append(errs, field.Forbidden(at, "may not be specified when hostNetwork is true"))
	}
	if len(*s.HostnameOverride) > maxOverride {
		errs = append(errs, field.TooLong(at, "", maxOverride))
	}
	return append(errs, invalid(at, *s.HostnameOverride, validation.IsDNS1123Subdomain(*s.HostnameOverride))...)
}

func validateDNSConfig(s *v1.PodSpec, at *field.Path) field.ErrorList {
	c := s.DNSConfig
	if s.DNSPolicy == v1.DNSNone && (c == nil || len(c.Nameservers) == 0) {
		path := at
		if c != nil {
			path = at.Child("nameservers")
		}
		return field.ErrorList{field.Required(path, fmt.Sprintf("must provide at least one DNS nameserver when `dnsPolicy` is %s", v1.DNSNone))}
	}
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	if len(c.Nameservers) > maxNameservers {
		errs = append(errs, field.Invalid(at.Child("nameservers"), c.Nameservers, fmt.Sprintf("must not have more than %d nameservers", maxNameservers)))
	}
	for i, address := range c.Nameservers {
		errs = append(errs, validateIP(address, at.Child("nameservers").Index(i))...)
	}
	if len(c.Searches) > maxSearches {
		errs = append(errs, field.Invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %d search paths", maxSearches)))
	}
	if len(strings.Join(c.Searches, " ")) > maxSearchChars {
		errs = append(errs, field.Invalid(at.Child("searches"), c.Searches, fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchChars)))
	}
	for i, search := range c.Searches {
		if name := strings.TrimSuffix(search, "."); name != "" {
			errs = append(errs, invalid(at.Child("searches").Index(i), search, validation.IsDNS1123SubdomainWithUnderscore(name))...)
		}
	}
	for i := range c.Options {
		if c.Options[i].Name == "" {
			errs = append(errs, field.Required(at.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

func validateIP(address string, at *field.Path) field.ErrorList {
	if ip, err := netip.ParseAddr(address); err != nil || ip.Zone() != "" {
		return field.ErrorList{field.Invalid(at, address, "must be an IP address")}
	}
	return nil
}

// validatePlacement checks a pod's node selector, node affinity and tolerations. For pods of an API
// server, the server has checked them, by the rules of its version.
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

// validateNodeTerm checks one node selector term. strict is false for preferred terms: there the
// values of labels may be any text.
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

// validateFieldRequirement checks a requirement for the node's name, the only field that the API
// allows here.
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
