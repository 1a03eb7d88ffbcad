package config

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

func (c *Config) checkSources(report strict.Report) {
	if len(c.Sources) == 0 && c.Cluster.Kubeconfig == "" {
		report("", "no source of pods; add one, for example:\n"+
			"[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"/etc/wardlet/manifests\"")
	}
	seen := map[string]bool{}
	for i := range c.Sources {
		s := &c.Sources[i]
		within := func(key, format string, args ...any) {
			report(fmt.Sprintf("source[%d].%s", i, key), format, args...)
		}
		if s.Kind == KindAPI {
			within("kind", "%s", s.replacement())
			continue
		}
		s.checkName(within, seen)
		seen[s.Name] = true
		oneOf(within, "kind", s.Kind, KindFile, KindHTTP)
		s.checkKeys(within)
		switch s.Kind {
		case KindFile:
			s.checkFile(within)
		case KindHTTP:
			s.checkHTTP(within)
		}
		if s.Tenant != "" && c.tenant(s.Tenant) == nil {
			within("tenant", "no [[tenant]] is named %q; add one with its namespaces", s.Tenant)
		}
	}
}

func (s *Source) checkName(report strict.Report, seen map[string]bool) {
	switch {
	case s.Name == "":
		report("name", `missing; it marks the pods of this source, for example name = "static"`)
	case s.Name == NameAPI:
		report("name", `"api" is kept for the API server; give this source another name`)
	case seen[s.Name]:
		report("name", "%q is the name of another source; give each its own", s.Name)
	default:
		for _, fault := range validation.IsDNS1123Label(s.Name) {
			report("name", "%q is no DNS label: %s", s.Name, fault)
		}
	}
}

// checkKeys reports keys that a source of this kind does not have.
func (s *Source) checkKeys(report strict.Report) {
	if s.Kind != KindFile && s.Kind != KindHTTP {
		return
	}
	for _, key := range []struct {
		name  string
		said  bool
		kinds []string
	}{
		{"path", s.Path != "", []string{KindFile}},
		{"missing_path", s.MissingPath != "", []string{KindFile}},
		{"url", s.URL != "", []string{KindHTTP}},
		{"period", s.Period != unset, []string{KindFile, KindHTTP}},
		{"timeout", s.Timeout != unset, []string{KindHTTP}},
		{"header_file", s.HeaderFile != "", []string{KindHTTP}},
		{"ca_file", s.CAFile != "", []string{KindHTTP}},
		{"client_cert_file", s.ClientCertFile != "", []string{KindHTTP}},
		{"client_key_file", s.ClientKeyFile != "", []string{KindHTTP}},
		{"token_file", s.TokenFile != "", nil},
		{"experimental", s.Experimental, nil},
		{"tenant", s.Tenant != "", []string{KindFile, KindHTTP}},
	} {
		switch {
		case !key.said || slices.Contains(key.kinds, s.Kind):
		case key.kinds == nil:
			report(key.name, "unknown key; it was one of an API server's source, which [cluster] replaces")
		default:
			report(key.name, `key %s is for sources of kind "%s"`, key.name, strings.Join(key.kinds, `" or "`))
		}
	}
}

func (s *Source) checkFile(report strict.Report) {
	if s.Path == "" {
		report("path", "missing; name a manifest or a directory of manifests")
	}
	s.checkPeriod(report)
	if s.MissingPath != "" {
		oneOf(report, "missing_path", s.MissingPath, MissingError, MissingEmpty)
	}
}

func (s *Source) checkHTTP(report strict.Report) {
	if s.URL == "" {
		report("url", `missing; name where the manifest is, for example url = "https://fleet.example/node.yaml"`)
	} else if u, err := checkURL(s.URL); err != nil {
		report("url", "%v", err)
	} else {
		s.checkTLS(report, u.Scheme == "https")
	}
	s.checkPeriod(report)
	if s.Timeout != unset {
		positive(report, "timeout", s.Timeout)
	}
}

func (s *Source) checkPeriod(report strict.Report) {
	if s.Period != unset && s.Period < leastPeriod {
		report("period", "want at least %s, found %s", leastPeriod, s.Period)
	}
}

// checkTLS reports an incomplete client certificate, and keys for encryption of a connection that
// is not encrypted.
func (s *Source) checkTLS(report strict.Report, secure bool) {
	for _, key := range s.fileKeys() {
		if key.path != "" && !secure && key.name != "header_file" {
			report(key.name, "is for https, and url is %s", s.URL)
		}
	}
	switch {
	case s.ClientCertFile != "" && s.ClientKeyFile == "":
		report("client_key_file", "missing; client_cert_file needs it")
	case s.ClientCertFile == "" && s.ClientKeyFile != "":
		report("client_cert_file", "missing; client_key_file needs it")
	}
}
