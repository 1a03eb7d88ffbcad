package manifest

import (
	"fmt"
	"net/netip"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of a resolver's configuration, as the API has them.
const (
	maxNameservers = 3
	maxSearches    = 32
	maxSearchChars = 2048
	// maxOverride is the length of the longest name that a kernel takes.
	maxOverride = 64
)

// validateNames checks how a pod is called, what names it looks up where, and that of its runtime class.
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
