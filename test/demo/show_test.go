package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const podTable = `NAMESPACE   NAME         READY   STATUS            RESTARTS     AGE
default     other-edge   0/1     ImageNotAllowed   0            2s
default     web-edge     1/1     Running           1 (2s ago)   9s
team        web-edge     1/1     Running           7            9s

default/other-edge: denied by policy "allowed-images": image untrusted.example/web:1 is not allowed
default/web-edge: the new version in /m/web.yaml is denied, the old one runs on: policy "allowed-images": no
`

func TestPick(t *testing.T) {
	t.Parallel()
	lines := strings.Split(podTable, "\n")
	for name, test := range map[string]struct {
		rows []row
		want []string
		// missing is what the error must name; empty for no error.
		missing string
	}{
		"a row": {
			[]row{{pod: web, status: "Running", restarts: "1"}}, []string{lines[0], lines[2]}, "",
		},
		"rows in their order, then notes": {
			[]row{
				{pod: web, status: "Running", restarts: "1"},
				{pod: other, status: "ImageNotAllowed", restarts: "0", note: []string{"denied", "allowed-images"}},
			},
			[]string{lines[0], lines[2], lines[1], lines[5]},
			"",
		},
		"a note without its row": {
			[]row{{pod: web, status: "Running", restarts: "1", note: []string{"runs on"}, noteOnly: true}},
			[]string{lines[0], lines[6]},
			"",
		},
		"a row that is not printed and is not there": {
			[]row{{pod: web, status: "Running", restarts: "0", note: []string{"runs on"}, noteOnly: true}},
			nil, "no row of web-edge with Running and 0",
		},
		"a pod that is not there":   {[]row{{pod: "db", status: "Running", restarts: "0"}}, nil, "no row of db-edge"},
		"another status":            {[]row{{pod: web, status: "Failed", restarts: "1"}}, nil, "no row of web-edge with Failed"},
		"another count of restarts": {[]row{{pod: web, status: "Running", restarts: "7"}}, nil, "no row of web-edge with Running and 7"},
		"a note that says something else": {
			[]row{{pod: web, status: "Running", restarts: "1", note: []string{"held"}}}, nil, `no note on web-edge with ["held"]`,
		},
		"a note on another pod": {
			[]row{{pod: other, status: "ImageNotAllowed", restarts: "0", note: []string{"the old one runs on"}}}, nil, "no note on other-edge",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pick(podTable, test.rows)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (err == nil) != (test.missing == "") || err != nil && !strings.Contains(err.Error(), test.missing) {
				t.Errorf("error is %v, want %q in it", err, test.missing)
			}
		})
	}
}

func FuzzPick(f *testing.F) {
	f.Add(podTable)
	f.Add("")
	f.Fuzz(func(t *testing.T, table string) {
		r := row{pod: web, status: "Running", restarts: "1", note: []string{"denied"}}
		got, err := pick(table, []row{r})
		if err != nil {
			return
		}
		if len(got) != 3 || !r.isRow(got[1]) || !r.isNote(got[2]) || !strings.Contains(table, got[2]) {
			t.Errorf("picked %q", got)
		}
	})
}

func TestPickPolicy(t *testing.T) {
	t.Parallel()
	const header = "NAME             OWNER      HOOKS   MODE      PRIORITY   ON ERROR"
	const policy = "allowed-images   operator   admit   enforce   100        hold"
	const note = "operator: set 5f3a in force, generation 1, loaded 0s ago from /p"
	for name, test := range map[string]struct {
		table string
		ok    bool
	}{
		"in force":             {header + "\n" + policy + "\n\n" + note + "\nmore\n", true},
		"no set was loaded":    {"operator: the policies of /p are being loaded for the first time; new pods are held until then (PoliciesNotReady)\n", false},
		"nothing":              {"", false},
		"another policy":       {header + "\n" + strings.Replace(policy, "images", "labels", 1) + "\n\n" + note, false},
		"a policy that is off": {header + "\n" + strings.Replace(policy, "enforce", "off", 1) + "\n\n" + note, false},
		"no note of the set":   {header + "\n" + policy + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pickPolicy(test.table)
			if (err == nil) != test.ok {
				t.Errorf("error is %v", err)
			}
			if test.ok && got != note {
				t.Errorf("picked %q", got)
			}
		})
	}
}
