// Conformance-report reads Ginkgo's report of a run of Kubernetes' end-to-end tests:
//
//	conformance-report DIR [LISTS]
//
// It reads DIR/report.json, prints counts by group and why tests failed, and writes passed.txt,
// failed.txt, skipped.txt and times.txt into DIR. With a directory LISTS, which has passing.txt and
// failing.txt, it also names the tests that failed but are not expected to fail, the tests that
// passed but are expected to fail, and the tests in no list.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: conformance-report DIR [LISTS]")
		os.Exit(2)
	}
	err := report(os.Args[1], os.Stdout)
	if err == nil && len(os.Args) == 3 {
		err = compare(os.Args[1], os.Args[2], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance-report:", err)
		os.Exit(1)
	}
}

// suite and spec are the parts of Ginkgo's report that the program reads.
type suite struct {
	RunTime     time.Duration
	SpecReports []spec
}

type spec struct {
	ContainerHierarchyTexts    []string
	LeafNodeType, LeafNodeText string
	State                      string
	RunTime                    time.Duration
	Failure                    struct {
		Message  string
		Location struct {
			FileName   string
			LineNumber int
		}
	}
}

// count is how many tests of a group passed, failed or were skipped, and how long they took in
// total.
type count struct {
	passed, failed, skipped int
	took                    time.Duration
}

// maxMessage is how much of a failure message is shown, in bytes.
const maxMessage = 600

func report(dir string, out io.Writer) error {
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return err
	}
	var suites []suite
	if err := json.Unmarshal(text, &suites); err != nil {
		return err
	}
	groups, all := map[string]*count{}, &count{}
	lists := map[string][]string{}
	for _, s := range suites {
		fmt.Fprintf(out, "%.0f s in all\n", s.RunTime.Seconds())
		for i := range s.SpecReports {
			add(&s.SpecReports[i], groups, all, lists, out)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name].print(out, name)
	}
	all.print(out, "all")
	slices.Sort(lists["failed"])
	for _, f := range lists["failed"] {
		fmt.Fprintln(out, "FAIL", f)
	}
	var errs []error
	for _, name := range []string{"passed", "failed", "skipped", "times"} {
		slices.Sort(lists[name])
		if name == "times" {
			slices.Reverse(lists[name])
		}
		errs = append(errs, os.WriteFile(filepath.Join(dir, name+".txt"), []byte(strings.Join(append(lists[name], ""), "\n")), 0o644))
	}
	return errors.Join(errs...)
}

// compare prints the tests whose results differ from the lists.
func compare(dir, lists string, out io.Writer) error {
	expected := map[string]string{}
	for _, list := range []string{"passing", "slow", "failing"} {
		names, err := tests(filepath.Join(lists, list+".txt"))
		if err != nil {
			return err
		}
		for _, name := range names {
			expected[name] = list
		}
	}
	for _, list := range []string{"failed", "passed"} {
		names, err := tests(filepath.Join(dir, list+".txt"))
		if err != nil {
			return err
		}
		for _, name := range names {
			switch is := expected[name]; {
			case is == "":
				fmt.Fprintf(out, "%s, and is in no list: %s\n", list, name)
			case (is == "failing") == (list == "passed"):
				fmt.Fprintf(out, "%s, and is in %s.txt: %s\n", list, is, name)
			}
		}
	}
	return nil
}

// tests reads the names of a list. All other lines are comments.
func tests(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[") {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names, nil
}

func (c *count) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%4d passed %3d failed %3d skipped %6.0f s  %s\n", c.passed, c.failed, c.skipped, c.took.Seconds(), name)
}

// add adds one test to the counts and lists.
func add(s *spec, groups map[string]*count, all *count, lists map[string][]string, out io.Writer) {
	if s.LeafNodeType != "It" {
		if s.State == "failed" || s.State == "panicked" {
			fmt.Fprintln(out, "FAILED before the tests:", s.LeafNodeType, s.Failure.Message)
		}
		return
	}
	name := strings.Join(append(slices.Clone(s.ContainerHierarchyTexts), s.LeafNodeText), " ")
	group := "?"
	if len(s.ContainerHierarchyTexts) > 0 {
		group = s.ContainerHierarchyTexts[0]
	}
	message := strings.Join(strings.Fields(s.Failure.Message), " ")
	message = message[:min(len(message), maxMessage)]
	var one count
	switch s.State {
	case "passed":
		one.passed = 1
		lists["passed"] = append(lists["passed"], name)
	case "skipped", "pending":
		if message == "" {
			return // the test was not selected
		}
		one.skipped = 1
		lists["skipped"] = append(lists["skipped"], name+"\n    # "+message)
	default:
		one.failed = 1
		at := s.Failure.Location
		lists["failed"] = append(lists["failed"], fmt.Sprintf("%s\n    # %s: %s (%s:%d, %.0f s)", name, s.State, message, filepath.Base(at.FileName), at.LineNumber, s.RunTime.Seconds()))
	}
	lists["times"] = append(lists["times"], fmt.Sprintf("%8.1f\t%s", s.RunTime.Seconds(), name))
	of := cmp.Or(groups[group], &count{})
	groups[group] = of
	for _, c := range []*count{of, all} {
		c.passed, c.failed, c.skipped, c.took = c.passed+one.passed, c.failed+one.failed, c.skipped+one.skipped, c.took+s.RunTime
	}
}
