package config

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// Tenant is somebody whose sources may fill only some namespaces.
type Tenant struct {
	// Name is a DNS label, unique among the tenants.
	Name string `toml:"name"`
	// Namespaces are names or patterns, in which "*" stands for any run of
	// characters. There is at least one, and no other tenant has the same.
	Namespaces []string `toml:"namespaces"`
}

// Namespaces are the names and patterns of the namespaces that the documents
// of s may be in, nil for all.
func (c *Config) Namespaces(s *Source) []string {
	if t := c.tenant(s.Tenant); t != nil {
		return t.Namespaces
	}
	return nil
}

// tenant is the one of that name, nil where there is none.
func (c *Config) tenant(name string) *Tenant {
	for i := range c.Tenants {
		if name != "" && c.Tenants[i].Name == name {
			return &c.Tenants[i]
		}
	}
	return nil
}

func (c *Config) checkTenants(report strict.Report) {
	names := map[string]bool{}
	owners := map[string]string{}
	for i, t := range c.Tenants {
		key := func(name string) string { return fmt.Sprintf("tenant[%d].%s", i, name) }
		switch {
		case t.Name == "":
			report(key("name"), `missing; sources name their tenant by it, for example name = "a"`)
		case names[t.Name]:
			report(key("name"), "%q is the name of another tenant; give each its own", t.Name)
		default:
			for _, fault := range validation.IsDNS1123Label(t.Name) {
				report(key("name"), "%q is no DNS label: %s", t.Name, fault)
			}
		}
		names[t.Name] = true
		if len(t.Namespaces) == 0 {
			report(key("namespaces"), `missing; name those of the tenant, for example namespaces = ["tenant-a-*"]`)
		}
		for _, pattern := range t.Namespaces {
			owner, taken := owners[pattern]
			switch {
			case !namespacePattern(pattern):
				report(key("namespaces"), `want a namespace such as "web", or a pattern such as "tenant-a-*", found %.80q`, pattern)
			case taken && owner == t.Name:
				report(key("namespaces"), "%q is named twice", pattern)
			case taken:
				report(key("namespaces"), "%q is a namespace of tenant %q already; no two tenants may share one", pattern, owner)
			}
			owners[pattern] = t.Name
		}
	}
}

// namespacePattern reports whether a namespace could match.
func namespacePattern(pattern string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-*"
	return pattern != "" && strings.Trim(pattern, characters) == ""
}
