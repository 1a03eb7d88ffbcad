package author

import (
	"context"
	"regexp"

	"github.com/wardlet/wardlet/core/policy/eval"
)

// TestOptions say which tests are run, and how.
type TestOptions struct {
	// Run matches the names of the tests, POLICY/TEST; nil for all.
	Run *regexp.Regexp
	// Update writes the golden files instead of comparing them.
	Update bool
}

// The results of comparing or writing the golden file of a test.
const (
	// GoldenNone: there is no golden file, and only the answer was compared.
	GoldenNone = "none"
	// GoldenSame and GoldenDifferent: the verdict is the same as in the file, or another
	// one.
	GoldenSame      = "same"
	GoldenDifferent = "different"
	// GoldenWritten: the file was written, and is new or has changed.
	GoldenWritten = "written"
)

// TestResult is the result of a test.
type TestResult struct {
	// Name is POLICY/TEST, or the policy's name if the policy cannot be tested.
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Faults are the reasons why the test did not pass, with file and line.
	Faults []string `json:"faults,omitempty"`
	// Verdict is the result of the policy, nil if it was not asked.
	Verdict *eval.Result `json:"verdict,omitempty"`
	Golden  string       `json:"golden,omitempty"`
	// Log are the lines that the plugin logged.
	Log []string `json:"log,omitempty"`
}

// Test runs the tests of a draft and calls each with the result of each test. The error is
// the error of ctx.
func Test(ctx context.Context, d *Draft, o TestOptions, each func(*TestResult)) error {
	if r := refused(d); r != nil {
		each(r)
		return nil
	}
	for _, t := range d.Tests() {
		r := &TestResult{Name: d.Name + "/" + t.Name}
		if o.Run != nil && !o.Run.MatchString(r.Name) {
			continue
		}
		s, fault, err := d.Test(ctx, t)
		if err != nil {
			return err
		}
		if s.Answer != "" || s.Failure != "" {
			r.Verdict = &s
		}
		if fault != "" {
			r.Faults = append(r.Faults, fault)
		}
		if r.Verdict != nil {
			if fault := r.compare(d, t.Name, o.Update); fault != "" {
				r.Faults = append(r.Faults, d.Fault(t, fault))
			}
		}
		r.Passed = len(r.Faults) == 0
		each(r)
	}
	return nil
}

// refused returns the result of a draft that cannot be asked, nil if it can.
func refused(d *Draft) *TestResult {
	if d.Err == nil {
		return nil
	}
	return &TestResult{Name: d.Name, Faults: d.Refusals()}
}

// compare compares the verdict with the golden file of the test, or writes that file.
func (r *TestResult) compare(d *Draft, test string, update bool) (fault string) {
	path := goldenPath(d, test)
	now := &golden{d.Module, *r.Verdict}
	r.Golden = GoldenSame
	if update {
		changed, err := now.write(path)
		if err != nil {
			return err.Error()
		}
		if changed {
			r.Golden = GoldenWritten
		}
		return ""
	}
	before, err := readGolden(path)
	if err == nil && before == nil {
		r.Golden = GoldenNone
		return ""
	}
	if err == nil {
		fault, err = before.differs(path, now)
	}
	if err != nil {
		fault = err.Error()
	}
	if fault != "" {
		r.Golden = GoldenDifferent
	}
	return fault
}
