package config

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

func (c *Config) checkSources(report strict.Report) {
	if len(c.Sources) == 0 {
		report("", "no source of pods; add one, for example:\n"+
			"[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"/etc/wardlet/manifests\"")
	}
	seen := map[string]bool{}
	for i := range c.Sources {
		s := &c.Sources[i]
		within := func(key, format string, args ...any) {
			report(fmt.Sprintf("source[%d].%s", i, key), format, args...)
		}
		s.checkName(within, seen)
		seen[s.Name] = true
		oneOf(within, "kind", s.Kind, nil, KindFile, KindHTTP, KindAPI)
		s.checkKeys(within)
		switch s.Kind {
		case KindFile:
			s.checkFile(within)
		case KindHTTP:
			s.checkHTTP(within)
		case KindAPI:
			s.checkAPI(within)
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
	case s.Name == NameAPI && s.Kind != KindAPI:
		report("name", `"api" is kept for the API server; give this source another name`)
	case s.Name != NameAPI && s.Kind == KindAPI:
		report("name", `a source of kind "api" is named "api", found %q`, s.Name)
	case seen[s.Name]:
		report("name", "%q is the name of another source; give each its own", s.Name)
	default:
		for _, fault := range validation.IsDNS1123Label(s.Name) {
			report("name", "%q is no DNS label: %s", s.Name, fault)
		}
	}
}

// checkKeys refuses the keys that a source of this kind does not have.
func (s *Source) checkKeys(report strict.Report) {
	if !slices.Contains([]string{KindFile, KindHTTP, KindAPI}, s.Kind) {
		return
	}
	for _, key := range []struct {
		name  string
		said  bool
		kinds []string
	}{
		{"path", s.Path != "", []string{KindFile}},
		{"missing_path", s.MissingPath != "", []string{KindFile}},
		{"url", s.URL != "", []string{KindHTTP, KindAPI}},
		{"period", s.Period != unset, []string{KindFile, KindHTTP}},
		{"timeout", s.Timeout != unset, []string{KindHTTP}},
		{"header_file", s.HeaderFile != "", []string{KindHTTP}},
		{"ca_file", s.CAFile != "", []string{KindHTTP, KindAPI}},
		{"client_cert_file", s.ClientCertFile != "", []string{KindHTTP, KindAPI}},
		{"client_key_file", s.ClientKeyFile != "", []string{KindHTTP, KindAPI}},
		{"token_file", s.TokenFile != "", []string{KindAPI}},
		{"experimental", s.Experimental, []string{KindAPI}},
		{"tenant", s.Tenant != "", []string{KindFile, KindHTTP}},
	} {
		if key.said && !slices.Contains(key.kinds, s.Kind) {
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
		oneOf(report, "missing_path", s.MissingPath, nil, MissingError, MissingEmpty)
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

func (s *Source) checkAPI(report strict.Report) {
	if s.URL == "" {
		report("url", `missing; name the API server, for example url = "https://10.0.0.1:6443"`)
	} else if u, err := checkURL(s.URL); err != nil {
		report("url", "%v", err)
	} else if u.RawQuery != "" || u.ForceQuery {
		report("url", "want the address of an API server, which has no query; remove all from the ?")
	} else if u.Scheme == "http" && !loopback(u.Hostname()) {
		report("url", "http is for an API server on this machine; write https://%s", u.Host)
	} else {
		s.checkTLS(report, u.Scheme == "https")
	}
	if !s.Experimental {
		report("experimental", "this version writes no status to the API server, so pods that are deleted there never finish deletion; "+
			"set experimental = true to try it")
	}
}

// checkTLS refuses half a client certificate, and keys that would seem to
// protect a connection that is not encrypted.
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
