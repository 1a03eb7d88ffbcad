// Command slowtests reads what go test -json prints, prints it as go test does without
// -json, and fails where a test failed or took longer than it may.
//
//	go test -json ./... | go run ./tools/slowtests -limit 20s
//
// A test that waits for others to end (t.Parallel) is charged for the time that it runs
// itself; of one with subtests, each of them.
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

// event is what go test -json prints a line for; see go doc test2json.
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
	// said is what a test printed, which only one that fails shows.
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
			fmt.Fprintf(out, "%s", line) // what the toolchain says beside
			continue
		}
		name := e.Package + "." + e.Test
		if i := strings.LastIndex(e.Test, "/"); i >= 0 {
			parents[e.Package+"."+e.Test[:i]] = true
		}
		switch e.Action {
		case "output", "build-output":
			switch {
			case e.Output == "PASS\n": // go test says "ok" of the package
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
	for _, text := range said { // of a test that did not end
		fmt.Fprint(out, text)
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
