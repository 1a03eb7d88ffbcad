package criconfig

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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
		if got, err := expanding(vars).expand(in); got != want || err != nil {
			t.Errorf("%q becomes %q, %v, want %q", in, got, err, want)
		}
	}
}

// expanding returns an expander with the room that a container's arguments have.
func expanding(vars map[string]string) *expander {
	return &expander{vars: vars, remaining: maxArguments}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$(A)", "$$(A)", "$($", "$(A$(A))", "$$$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got, err := expanding(map[string]string{"A": "x"}).expand(strings.ReplaceAll(in, "$", "$$")); got != in || err != nil {
			t.Errorf("escaped %q expands to %q, %v", in, got, err)
		}
		if !strings.Contains(in, "$$") {
			if got, err := expanding(nil).expand(in); got != in || err != nil {
				t.Errorf("%q with nothing to expand gives %q, %v", in, got, err)
			}
		}
	})
}

// noField is for containers whose variables have plain values only.
var noField = &variables{
	of:    func(*v1.EnvFromSource) ([]variable, error) { return nil, errors.New("envFrom") },
	value: func(*v1.EnvVarSource) (string, bool, error) { return "", false, errors.New("valueFrom") },
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	args, err := expandArguments(&v1.Container{
		Env: []v1.EnvVar{
			{Name: "LATE", Value: "$(HOST)"},
			{Name: "HOST", Value: "h"},
			{Name: "URL", Value: "http://$(HOST):$(PORT)/$$(HOST)"},
			{Name: "HOST", Value: "$(HOST)2"},
		},
		Command: []string{"run", "$(LATE)"}, Args: []string{"$(HOST)", "$(URL)"},
	}, noField)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range args.env {
		got = append(got, e.Key+"="+string(e.Value))
	}
	mustEqual(t, "values expand from the variables before them", []string{"LATE=$(HOST)", "HOST=h2", "URL=http://h:$(PORT)/$(HOST)"}, got)
	mustEqual(t, "the command expands once", []string{"run", "$(HOST)"}, args.command)
	mustEqual(t, "the last value of a name holds", []string{"h2", "http://h:$(PORT)/$(HOST)"}, args.args)
}

func TestEnvironmentRefusesWhatItCannotResolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*v1.Container{
		`container "app": env "A": valueFrom`: {Name: "app", Env: []v1.EnvVar{{Name: "A", ValueFrom: &v1.EnvVarSource{}}}},
		`container "app": envFrom`:            {Name: "app", EnvFrom: []v1.EnvFromSource{{}}},
	} {
		if _, err := expandArguments(c, noField); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that says %q", err, name)
		}
	}
}

// filling returns variables that fill a number of bytes together, none of which is too long.
func filling(bytes int) []v1.EnvVar {
	var vars []v1.EnvVar
	for bytes > 0 {
		v := v1.EnvVar{Name: fmt.Sprintf("F%06d", len(vars))}
		v.Value = strings.Repeat("x", min(64<<10, bytes)-len(v.Name))
		bytes -= len(v.Name) + len(v.Value)
		vars = append(vars, v)
	}
	return vars
}

// doubling returns n variables. Each of them is twice the one before.
func doubling(n int) []v1.EnvVar {
	vars := []v1.EnvVar{{Name: "V0", Value: "0123456789abcdef"}}
	for i := 1; i < n; i++ {
		before := fmt.Sprintf("$(V%d)", i-1)
		vars = append(vars, v1.EnvVar{Name: fmt.Sprintf("V%d", i), Value: before + before})
	}
	return vars
}

// TestAContainerIsBuiltOnlyAsLongAsItMayBe measures allocations, so no other test may run in
// parallel.
func TestAContainerIsBuiltOnlyAsLongAsItMayBe(t *testing.T) {
	kilo := strings.Repeat("x", 1<<10)
	long := []v1.EnvVar{{Name: "A", Value: kilo}}
	half := slices.Repeat([]string{strings.Repeat("x", 64<<10)}, 8)
	for _, tc := range []struct {
		rule      string
		container v1.Container
		err       string // the field that is too long, "" for none
	}{
		{"variables up to the bound", v1.Container{Env: filling(maxArguments)}, ""},
		{"a byte more is too long", v1.Container{Env: append(filling(maxArguments), v1.EnvVar{Name: "NAME"})}, `env "NAME"`},
		{"a variable up to the kernel's bound", v1.Container{Env: []v1.EnvVar{{Name: "NAME", Value: strings.Repeat("x", maxString-5)}}}, ""},
		{"a variable beyond it", v1.Container{Env: []v1.EnvVar{{Name: "NAME", Value: strings.Repeat("x", maxString-4)}}}, fmt.Sprintf(`env "NAME": it has %d bytes, and the kernel`, maxString+1)},
		{"an argument beyond it", v1.Container{Args: []string{strings.Repeat("x", maxString+1)}}, fmt.Sprintf("args[0]: it has %d bytes, and the kernel", maxString+1)},
		{"variables that double", v1.Container{Env: doubling(24)}, `env "V15"`},
		{"a variable of many others", v1.Container{Env: append(long, v1.EnvVar{Name: "B", Value: strings.Repeat("$(A)", 1<<20)})}, `env "B"`},
		{"a command of many variables", v1.Container{Env: long, Command: []string{"sh", strings.Repeat("$(A)", 1<<20)}}, "command[1]"},
		{"args of many variables", v1.Container{Env: long, Args: slices.Repeat([]string{"$(A)"}, 1<<20)}, "args[1022]"},
		{"command and args count together", v1.Container{
			Command: half, Args: append(slices.Clone(half), "x"),
		}, "args[8]"},
		{"command and args up to the bound", v1.Container{
			Command: half, Args: half,
		}, ""},
		{"references that nothing closes cost no more", v1.Container{Command: []string{strings.Repeat("$(", 8<<20)}}, "command[0]"},
		{"names that cannot be resolved stay", v1.Container{Command: slices.Repeat([]string{strings.Repeat("$(A)", 16<<10)}, 16)}, ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			tc.container.Name = "app"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := expandArguments(&tc.container, noField)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
				t.Errorf("%d bytes allocated", allocated)
			}
			if tc.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			want := `container "app": ` + tc.err
			if !strings.HasSuffix(tc.err, "the kernel") {
				want += ": env, command and args of a container are longer than 1048576 bytes"
			}
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
