package abi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The location of the conformance set.
const (
	folder    = "../../plugins/sdk/conformance"
	casesFile = folder + "/cases.json"
)

// set is the content of cases.json. The set's README explains all fields.
type set struct {
	Version  string                     `json:"version"`
	Defaults defaults                   `json:"defaults"`
	Pods     map[string]json.RawMessage `json:"pods"`
	Cases    []*testCase                `json:"cases"`
}

type defaults struct {
	Policy json.RawMessage `json:"policy"`
	Ask    json.RawMessage `json:"ask"`
}

// testCase is a module that is either loaded and asked, or refused.
type testCase struct {
	Name    string          `json:"name"`
	Shows   string          `json:"shows"`
	Module  string          `json:"module"`
	Guest   bool            `json:"guest,omitempty"`
	Policy  json.RawMessage `json:"policy,omitempty"`
	Refused *failure        `json:"refused,omitempty"`
	Calls   []*call         `json:"calls,omitempty"`
}

// failure is the reason why a module is not loaded or a call has no answer. Says is a part of its
// text.
type failure struct {
	Code string `json:"code"`
	Says text   `json:"says,omitempty"`
}

// call is a question with its answer.
type call struct {
	Ask  json.RawMessage `json:"ask,omitempty"`
	Want want            `json:"want"`
	// Values are the values that the explanation shows. Spent are the parts of the fuel. Own
	// reports whether the explanation is the host's own. Like and Unlike are the numbers, from 0,
	// of calls whose explanations must be the same as this call's, or different. Want has no
	// explanation with Own, Like or Unlike.
	Values []any            `json:"values,omitempty"`
	Spent  map[string]spent `json:"spent,omitempty"`
	Own    bool             `json:"own,omitempty"`
	Like   *int             `json:"like,omitempty"`
	Unlike *int             `json:"unlike,omitempty"`
}

// want is the result of a call.
type want struct {
	Answer       string          `json:"answer,omitempty"`
	Winner       *int            `json:"winner,omitempty"`
	Failure      *failure        `json:"failure,omitempty"`
	Reason       text            `json:"reason,omitempty"`
	Message      text            `json:"message,omitempty"`
	Explanation  text            `json:"explanation,omitempty"`
	Warnings     []text          `json:"warnings,omitempty"`
	Annotations  map[string]text `json:"annotations,omitempty"`
	RetryAfterMS int64           `json:"retry_after_ms,omitempty"`
	Patch        text            `json:"patch,omitempty"`
	Log          []line          `json:"log,omitempty"`
	Fuel         int64           `json:"fuel,omitempty"`
}

// line is a line of the log; Times is how often it is repeated in a row, if more than once.
type line struct {
	Level string `json:"level"`
	Text  text   `json:"text"`
	Times int    `json:"times,omitempty"`
}

// readSet reads cases.json and refuses unknown fields.
func readSet(tb testing.TB) *set {
	tb.Helper()
	content, err := os.ReadFile(casesFile)
	if err != nil {
		tb.Fatal(err)
	}
	s := &set{}
	if err := strictly(content, s); err != nil {
		tb.Fatalf("%s: %v", casesFile, err)
	}
	return s
}

// strictly decodes JSON, numbers as json.Number, and refuses unknown fields.
func strictly(content []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	d.UseNumber()
	return d.Decode(into)
}

func TestTheSetIsWellFormed(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	modules := map[string]bool{}
	names := map[string]bool{}
	for _, c := range s.Cases {
		if names[c.Name] || c.Name == "" || c.Shows == "" {
			t.Errorf("case %q has no name of its own, or does not say what it shows", c.Name)
		}
		names[c.Name], modules[c.Module] = true, true
		if (c.Refused == nil) == (len(c.Calls) == 0) {
			t.Errorf("%s: a case is refused, or has calls", c.Name)
		}
		for i, call := range c.Calls {
			if err := call.check(i); err != nil {
				t.Errorf("%s, call %d: %v", c.Name, i, err)
			}
		}
	}
	if len(names) < 80 {
		t.Errorf("%d cases", len(names))
	}
	files, err := filepath.Glob(folder + "/modules/*")
	if err != nil {
		t.Fatal(err)
	}
	var unused []string
	for _, file := range files {
		if name := filepath.Base(file); !modules[trimEnding(name)] {
			unused = append(unused, name)
		}
	}
	if len(unused) > 0 || len(files) != len(modules) {
		t.Errorf("%d files for %d modules; no case has %q", len(files), len(modules), unused)
	}
}

func (c *call) check(at int) error {
	w := &c.Want
	switch {
	case (w.Answer == "") == (w.Failure == nil):
		return fmt.Errorf("want an answer or a failure, got %q and %v", w.Answer, w.Failure)
	case (w.Answer == "") != (w.Fuel == 0):
		return fmt.Errorf("answers have fuel, and failures none: %d", w.Fuel)
	case (w.Answer == "winner") != (w.Winner != nil):
		return fmt.Errorf("%q with the winner %v", w.Answer, w.Winner)
	}
	for _, other := range []*int{c.Like, c.Unlike} {
		if other != nil && (*other < 0 || *other >= at) {
			return fmt.Errorf("compared with call %d", *other)
		}
	}
	if c.free() && w.Explanation != "" {
		return fmt.Errorf("the explanation %q, which is the host's own", w.Explanation)
	}
	return nil
}

// free reports whether the case leaves the explanation open.
func (c *call) free() bool { return c.Own || c.Like != nil || c.Unlike != nil }

// TestTheSetIsLaidOut checks that the file has the layout that -update writes, so that a diff shows
// only real changes.
func TestTheSetIsLaidOut(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	written, err := laidOut(readSet(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, written) {
		t.Errorf("%s is laid out otherwise: run this package's tests with -update", casesFile)
	}
}

// sharing returns the cases that use one of the modules.
func (s *set) sharing(modules ...string) []*testCase {
	return slices.DeleteFunc(slices.Clone(s.Cases), func(c *testCase) bool { return !slices.Contains(modules, c.Module) })
}
