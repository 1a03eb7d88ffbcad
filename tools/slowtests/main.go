// Command slowtests reads the output of go test -json and prints it as go test does without -json.
// It fails if a test failed or took longer than the limit.
//
//	go test -json ./... | go run ./tools/slowtests -limit 20s
//
// Only the time that a test itself runs counts, not the time that it waits for other tests
// (t.Parallel). Of a test with subtests, only the subtests count.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
	FailedBuild                   string
}

func main() {
	limit := flag.Duration("limit", 20*time.Second, "how long one test may take; 0 for any time")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "slowtests:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, limit time.Duration) error {
	var failed, slow []string
	// said has the output of each test. It is printed only for tests that fail.
	said := map[string]*strings.Builder{}
	// parents are the tests that have subtests.
	parents := map[string]bool{}
	packages := 0
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(out, "%s", line) // other output of the toolchain
			continue
		}
		name := e.Package + "." + e.Test
		if i := strings.LastIndex(e.Test, "/"); i >= 0 {
			parents[e.Package+"."+e.Test[:i]] = true
		}
		switch e.Action {
		case "output", "build-output":
			switch {
			case e.Output == "PASS\n": // go test prints "ok" for the package
			case strings.HasPrefix(e.Output, "=== "): // which test runs, pauses and goes on
			case e.Test == "" || e.Action == "build-output":
				fmt.Fprint(out, e.Output)
			case said[name] == nil:
				said[name] = &strings.Builder{}
				fallthrough
			default:
				said[name].WriteString(e.Output)
			}
		case "pass", "skip", "fail":
			if e.Test == "" {
				packages++
				if e.Action == "fail" {
					failed = append(failed, e.Package)
				}
				continue
			}
			if text := said[name]; e.Action == "fail" && text != nil {
				fmt.Fprint(out, text)
			}
			delete(said, name)
			if took := time.Duration(e.Elapsed * float64(time.Second)); limit > 0 && took > limit && !parents[name] {
				slow = append(slow, fmt.Sprintf("%s took %s", name, took.Round(100*time.Millisecond)))
			}
		}
	}
	for name, text := range said { // the output of tests that did not finish, as after a panic
		fmt.Fprintf(out, "%s did not finish:\n%s", name, text)
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%d packages failed: %s", len(failed), strings.Join(failed, " "))
	case packages == 0:
		return errors.New("no package was tested")
	case len(slow) > 0:
		return fmt.Errorf("a test may take %s, make it smaller or move its full size to make soak:\n  %s", limit, strings.Join(slow, "\n  "))
	}
	return nil
}
