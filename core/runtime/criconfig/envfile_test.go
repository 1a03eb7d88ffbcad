package criconfig

import (
	"io/fs"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestFileVariable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, want, err string }{
		"one":                            {"A='1'\n", "1", ""},
		"without an end of line":         {"A='1'", "1", ""},
		"among others":                   {"# a comment\n\n  \t\nB='2'\n\tA='1' # its comment\nC='3'", "1", ""},
		"several lines":                  {"B='x\ny'\nA='one\n two # no comment\n'\n", "one\n two # no comment\n", ""},
		"as it is":                       {`A='$(B) "\n" \'`, `$(B) "\n" \`, ""},
		"empty":                          {"A=''", "", ""},
		"a blank makes it empty":         {"A= 'x'", "", ""},
		"lines of another system":        {"B='2'\r\nA='1'\r\n", "1", ""},
		"the first one counts":           {"A='1'\nA='2'", "1", ""},
		"what comes later is not read":   {"A='1'\nnonsense", "1", ""},
		"missing":                        {"B='1'", "none", ""},
		"an empty file":                  {"", "none", ""},
		"no equals sign":                 {"B='1'\nA", "", "line 2 has no '='"},
		"no name":                        {"='1'", "", "line 1 has no name"},
		"a blank before the equals sign": {"A ='1'", "", "line 1 has a blank before '='"},
		"no quotes":                      {"A=1", "", "line 1: the value is not in single quotes"},
		"nothing":                        {"A=", "", "line 1: the value is not in single quotes"},
		"double quotes":                  {`A="1"`, "", "line 1: the value is not in single quotes"},
		"an open quote":                  {"B='1'\nA='1\n2", "", "line 2: the single quote is not closed"},
		"something behind the value":     {"A='x\ny' z", "", `line 2: "z" follows the value`},
	} {
		got, ok, err := fileVariable([]byte(test.file), "A")
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %s", name, err, test.err)
			}
			continue
		}
		if !ok && err == nil {
			got = "none"
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// TestFileVariable_ofManyLines: the time to read a file does not grow with the square of its lines.
// It counts allocations, so no other test may run in parallel.
func TestFileVariable_ofManyLines(t *testing.T) {
	file := []byte(strings.Repeat("B=''\n", 200_000) + "A='1'\n")
	if value, ok, err := fileVariable(file, "A"); value != "1" || !ok || err != nil {
		t.Errorf("%q, %v, %v", value, ok, err)
	}
	if allocated := testing.AllocsPerRun(1, func() { _, _, _ = fileVariable(file, "A") }); allocated > 10 {
		t.Errorf("%v allocations", allocated)
	}
}

func FuzzFileVariable(f *testing.F) {
	for _, seed := range []string{"A='1'", "A='1\n2' # x\nB=''", "A= 'x'", "=\n'", "\r\n\t#"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		value, ok, err := fileVariable([]byte(file), "A")
		if ok && (err != nil || value != "" && !strings.Contains(strings.ReplaceAll(file, "\r\n", "\n"), strings.ReplaceAll(value, "\r\n", "\n"))) {
			t.Errorf("%q, %v", value, err)
		}
		if quoted := strings.ReplaceAll(file, "'", ""); quoted != "" {
			if got, ok, err := fileVariable([]byte("A='"+quoted+"'"), "A"); !ok || err != nil || got != quoted {
				t.Errorf("%q is read as %q, %v", quoted, got, err)
			}
		}
	})
}

func TestVariables_ofFiles(t *testing.T) {
	t.Parallel()
	b := plainBuilder()
	b.config.ReadFile = func(_ *v1.Pod, volume, path string) ([]byte, error) {
		if volume != "data" || path != "dir/env" {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		return []byte("A='1'\nB='2'\n"), nil
	}
	for name, test := range map[string]struct {
		of   v1.FileKeySelector
		want string
	}{
		"a variable":                 {v1.FileKeySelector{VolumeName: "data", Path: "dir/env", Key: "B"}, "2"},
		"no variable":                {v1.FileKeySelector{VolumeName: "data", Path: "dir/env", Key: "C"}, `file dir/env of volume data has no variable "C"`},
		"no variable, may be absent": {v1.FileKeySelector{VolumeName: "data", Path: "dir/env", Key: "C", Optional: new(true)}, "absent"},
		"no file":                    {v1.FileKeySelector{VolumeName: "data", Path: "no", Key: "A"}, "file no of volume data: open no: file does not exist"},
		"no file, may be absent":     {v1.FileKeySelector{VolumeName: "data", Path: "no", Key: "A", Optional: new(true)}, "absent"},
	} {
		run := fullRun(newPod("web"))
		got, ok, err := b.variableValue(t.Context(), &run, &v1.EnvVarSource{FileKeyRef: &test.of})
		switch {
		case err != nil:
			got = err.Error()
		case !ok:
			got = "absent"
		}
		mustEqual(t, name, test.want, got)
	}
}
