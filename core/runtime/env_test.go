package runtime

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"A": "1", "B": "two $(A)", "": "empty name", "A$(B": "odd"}
	for in, want := range map[string]string{
		"plain":       "plain",
		"$(A)":        "1",
		"x$(A)y$(A)z": "x1y1z",
		"$(B)":        "two $(A)",
		"$(C)":        "$(C)",
		"$$(A)":       "$(A)",
		"$$$(A)":      "$1",
		"$$$$(A)":     "$$(A)",
		"$A":          "$A",
		"$":           "$",
		"a$":          "a$",
		"$$":          "$",
		"$(A":         "$(A",
		"$($(A)":      "$($(A)",
		"$(A$(B)":     "odd",
		"$()":         "empty name",
		"$(A))":       "1)",
		"ü$(A)ü":      "ü1ü",
	} {
		if got := expand(in, vars); got != want {
			t.Errorf("expand(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$(A)", "$$(A)", "$($", "$(A$(A))", "$$$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got := expand(strings.ReplaceAll(in, "$", "$$"), map[string]string{"A": "x"}); got != in {
			t.Errorf("escaped %q expands to %q", in, got)
		}
		if !strings.Contains(in, "$$") {
			if got := expand(in, nil); got != in {
				t.Errorf("%q with nothing to expand gives %q", in, got)
			}
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env, vars, err := environment(&v1.Container{Env: []v1.EnvVar{
		{Name: "LATE", Value: "$(HOST)"},
		{Name: "HOST", Value: "h"},
		{Name: "URL", Value: "http://$(HOST):$(PORT)/$$(HOST)"},
		{Name: "HOST", Value: "$(HOST)2"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range env {
		got = append(got, e.Key+"="+string(e.Value))
	}
	mustEqual(t, "values expand from the variables before them", []string{"LATE=$(HOST)", "HOST=h", "URL=http://h:$(PORT)/$(HOST)", "HOST=h2"}, got)
	mustEqual(t, "the last value of a name holds", map[string]string{"LATE": "$(HOST)", "HOST": "h2", "URL": "http://h:$(PORT)/$(HOST)"}, vars)
}

func TestEnvironmentRefusesWhatItCannotResolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*v1.Container{
		`container "app": env "A": valueFrom`: {Name: "app", Env: []v1.EnvVar{{Name: "A", ValueFrom: &v1.EnvVarSource{}}}},
		`container "app": envFrom`:            {Name: "app", EnvFrom: []v1.EnvFromSource{{}}},
	} {
		if _, _, err := environment(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that says %q", err, name)
		}
	}
}
