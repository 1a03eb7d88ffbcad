package main

import (
	"strings"
	"testing"
)

func TestPatternsLetImagesPass(t *testing.T) {
	other := strings.Replace(sha256, "0", "1", 1)
	for _, test := range []struct {
		pattern string
		yes, no []string
	}{
		{
			"registry.example/*",
			[]string{"registry.example/app", "registry.example/team/app:1", "registry.example/app@" + sha256},
			[]string{
				"registry.example.evil/app", "evil.registry.example/app", "registry.example:5000/app", "registry.examples/app",
				"xregistry.example/app", "docker.io/registry.example/app", "evil.example/registry.example/app", "registry", "app",
			},
		},
		{
			"docker.io/library/nginx",
			[]string{"nginx", "nginx:1.27", "library/nginx", "docker.io/nginx", "index.docker.io/library/nginx", "nginx@" + sha256},
			[]string{"nginx2", "nginx/nginx", "library/nginx/x", "quay.io/library/nginx", "xnginx", "localhost/nginx", "docker.io:443/library/nginx"},
		},
		{"docker.io/nginx", []string{"nginx", "docker.io/library/nginx:1"}, []string{"nginx/nginx", "team/nginx"}},
		{"index.docker.io/*", []string{"nginx", "team/app"}, []string{"index.docker.example/nginx"}},
		{"REGISTRY.example/app", []string{"registry.example/app"}, []string{"registry.example/apps"}},
		{"registry.example:5000/*", []string{"registry.example:5000/app"}, []string{"registry.example/app", "registry.example:50000/app"}},
		{"registry.example/team-*/app", []string{"registry.example/team-a/app", "registry.example/team-a/b/app"}, []string{"registry.example/team/app"}},
		{"*.registry.example/*", []string{"a.registry.example/x", "a.b.registry.example/x"}, []string{"registry.example/x", "evilregistry.example/x"}},
		{"*/app", []string{"a.example/app", "localhost:1/app"}, []string{"app", "a.example/b/app"}},
		{"*/*", []string{"nginx", "a.example/b/c@" + sha256}, nil},
		{"localhost/*", []string{"localhost/app"}, []string{"localhost:5000/app", "localhost:5000", "localhost"}},
		{"registry.example/app:1.*", []string{"registry.example/app:1.2"}, []string{"registry.example/app:2", "registry.example/app", "registry.example/app:1.2@" + sha256, "registry.example/app@" + sha256}},
		{"registry.example/app:latest", []string{"registry.example/app"}, []string{"registry.example/app:1"}},
		{"registry.example/app@" + sha256, []string{"registry.example/app@" + sha256, "registry.example/app:x@" + sha256}, []string{"registry.example/app", "registry.example/app@" + other}},
	} {
		p, err := parsePattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for want, references := range map[bool][]string{true: test.yes, false: test.no} {
			for _, reference := range references {
				i, err := parseImage(reference)
				if err != nil {
					t.Errorf("%s: %v", reference, err)
				}
				if got := p.matches(&i); got != want {
					t.Errorf("pattern %s, image %s: %v", test.pattern, reference, got)
				}
			}
		}
	}
}

func TestPatternsThatMeanTooMuchOrNothingAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                                 "name the registry",
		"*":                                "name the registry",
		"nginx":                            "name the registry",
		"library/nginx":                    "name the registry",
		"registry.example":                 "name the registry",
		"registry.example*":                "name the registry",
		"registry.example*/app":            "the registry must be a host",
		"registry.*/app":                   "the registry must be a host",
		"*registry.example/app":            "the registry must be a host",
		"*.*.example/app":                  "the registry must be a host",
		"*./app":                           "the registry must be a host",
		"*:5000/app":                       "the registry must be a host",
		"https://registry.example/app":     "the registry must be a host",
		"registry.example/":                "no image can match this path",
		"registry.example//app":            "no image can match this path",
		"registry.example/App":             "no image can match this path",
		"registry.example/a..b":            "no image can match this path",
		"registry.example/app ":            "no image can match this path",
		"registry.example/[a-z]*":          "no image can match this path",
		"registry.example/app:":            "no tag can match",
		"registry.example/app:a b":         "no tag can match",
		"registry.example/app@sha256:*":    "a whole digest",
		"registry.example/app@":            "a whole digest",
		"registry.example/app:1@" + sha256: "beside a digest a tag means nothing",
	} {
		if _, err := parsePattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", pattern, err, want)
		}
	}
}

// FuzzPattern checks that an image that matches a pattern is from the registry of the
// pattern, if that registry has no star.
func FuzzPattern(f *testing.F) {
	f.Add("registry.example/*", "registry.example.evil/app")
	f.Add("docker.io/library/nginx:1.*", "nginx:1.2")
	f.Fuzz(func(t *testing.T, text, reference string) {
		p, err := parsePattern(text)
		if err != nil {
			return
		}
		i, err := parseImage(reference)
		if err != nil || !p.matches(&i) {
			return
		}
		if !strings.HasPrefix(text, "*") && p.registry != i.registry {
			t.Errorf("pattern %q lets %q pass", text, reference)
		}
	})
}
