package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// benched replaces the list of benches until the test ends. Tests that use benched must not be
// parallel.
func benched(t *testing.T, all ...bench) {
	t.Helper()
	before := benches
	t.Cleanup(func() { benches = before })
	benches = all
	for i := range benches {
		benches[i].what, benches[i].expected = "something", perRound(time.Minute, 0)
	}
}

// outcome is the result of a run.
type outcome struct {
	err             error
	table, progress string
	figures         []map[string]any
}

// names returns the names of the figures in the file.
func (o *outcome) names() string {
	var names []string
	for _, f := range o.figures {
		names = append(names, f["name"].(string))
	}
	return strings.Join(names, " ")
}

// runAll runs the benches into a file.
func runAll(ctx context.Context, t *testing.T, only, out string) (o outcome) {
	t.Helper()
	var table, progress bytes.Buffer
	r := &run{root: ".", rounds: 1, progress: &progress}
	o.err = r.all(ctx, &table, only, out)
	o.table, o.progress = table.String(), progress.String()
	text, err := os.ReadFile(out)
	if err != nil {
		return o
	}
	if err := json.Unmarshal(text, &o.figures); err != nil {
		t.Fatal(err)
	}
	return o
}

func outFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "build", "bench.json")
}

// figuresOf returns a bench that reports some figures.
func figuresOf(name string, figures ...figure) bench {
	return bench{name: name, measure: func(_ context.Context, _ *run, report report) error { return report(1, figures) }}
}

func TestRun_printsAndWritesItsFigures(t *testing.T) {
	benched(t, figuresOf("good", plain("a", 2048, "bytes"), plain("b", 0.5, "ratio").beside("kubelet", 3).limited(atMost, 1)))
	o := runAll(t.Context(), t, "good", outFile(t))
	if o.err != nil {
		t.Fatal(o.err)
	}
	for _, want := range []string{"2.0 KiB", "0.50x", "kubelet 3.00x", "at most 1.00x", "ok"} {
		if !strings.Contains(o.table, want) {
			t.Errorf("the table has no %q:\n%s", want, o.table)
		}
	}
	if o.names() != "a b" {
		t.Fatalf("the file has %q", o.names())
	}
	if f := o.figures[0]; f["limit"] != nil || f["ok"] != true || f["peer"] != "" {
		t.Errorf("a figure without a limit: %v", f)
	}
	if f := o.figures[1]; f["limit"] != 1.0 || f["bound"] != atMost || f["peer_value"] != 3.0 {
		t.Errorf("a figure with a limit: %v", f)
	}
}

func TestRun_keepsTheFiguresOfTheRunBefore(t *testing.T) {
	out := outFile(t)
	benched(t, figuresOf("whole", plain("a", 1, "ns")), figuresOf("part", plain("b", 2, "ns")))
	runAll(t.Context(), t, "whole", out)
	before, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	runAll(t.Context(), t, "part", out)
	if kept, err := os.ReadFile(out + ".before"); err != nil || string(kept) != string(before) {
		t.Errorf("%q, %v; want %q", kept, err, before)
	}
}

func TestRun_missedLimitIsAnError(t *testing.T) {
	benched(t, figuresOf("slow", plain("c", 2, "ratio").limited(atMost, 1)))
	o := runAll(t.Context(), t, "", outFile(t))
	if o.err == nil || !strings.Contains(o.err.Error(), "[c]") || !strings.Contains(o.table, "MISSED") {
		t.Errorf("%v, table:\n%s", o.err, o.table)
	}
}

func TestRun_ofNoBenchIsAnError(t *testing.T) {
	benched(t, figuresOf("good"))
	if o := runAll(t.Context(), t, "none", outFile(t)); o.err == nil {
		t.Error("a bench that does not exist is no error")
	}
}

func TestRun_failureLosesNoOtherFigures(t *testing.T) {
	broken := errors.New("no such thing")
	benched(t, figuresOf("first", plain("a", 1, "ns")),
		bench{name: "broken", measure: func(_ context.Context, _ *run, report report) error {
			return errors.Join(report(0.5, []figure{plain("b", 1, "ns")}), broken)
		}},
		figuresOf("last", plain("c", 1, "ns")))
	o := runAll(t.Context(), t, "", outFile(t))
	if !errors.Is(o.err, broken) || o.names() != "a b c" {
		t.Errorf("%v, the file has %q", o.err, o.names())
	}
}

func TestRun_failedBuildMeasuresNothing(t *testing.T) {
	broken := errors.New("does not compile")
	measured := figuresOf("first", plain("a", 1, "ns"))
	unbuilt := figuresOf("second")
	unbuilt.build = func(context.Context, *run) error { return broken }
	benched(t, measured, unbuilt)
	if o := runAll(t.Context(), t, "", outFile(t)); !errors.Is(o.err, broken) || len(o.figures) > 0 {
		t.Errorf("%v after measuring %q", o.err, o.names())
	}
}

func TestRun_writesEachFigureAsItComes(t *testing.T) {
	out := outFile(t)
	benched(t, figuresOf("first", plain("a", 1, "ns")),
		bench{name: "second", measure: func(_ context.Context, _ *run, report report) error {
			for i := range 3 {
				if err := report(float64(i+1)/3, []figure{plain("b", float64(i), "ns")}); err != nil {
					return err
				}
				text, err := os.ReadFile(out)
				if err != nil {
					return err
				}
				var now []figure
				if err := json.Unmarshal(text, &now); err != nil {
					return err
				}
				if len(now) != 2 || now[1].Value != float64(i) {
					t.Errorf("after round %d the file has %s", i, text)
				}
			}
			return nil
		}})
	if o := runAll(t.Context(), t, "", out); o.err != nil {
		t.Error(o.err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(out), "*.new")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRun_interruptLosesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		figures     []figure
		table, file string
		says        string
	}{
		"after a round":          {[]figure{plain("b", 1, "ns")}, "b", "a b", "interrupted: 2 figures so far"},
		"before a round is over": {nil, "a", "a", "interrupted: 1 figures so far"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			benched(t, figuresOf("first", plain("a", 1, "ns")),
				bench{name: "second", measure: func(ctx context.Context, _ *run, report report) error {
					if test.figures != nil {
						if err := report(0.5, test.figures); err != nil {
							return err
						}
					}
					cancel()
					return ctx.Err()
				}},
				figuresOf("third", plain("c", 1, "ns")))
			o := runAll(ctx, t, "", outFile(t))
			if o.err == nil || !strings.Contains(o.err.Error(), test.says) {
				t.Errorf("error %v, want %q", o.err, test.says)
			}
			if o.names() != test.file || !strings.Contains(o.table, "\n"+test.table+" ") || strings.Contains(o.table, "\nc ") {
				t.Errorf("the file has %q, the table is\n%s", o.names(), o.table)
			}
		})
	}
}

func TestRun_interruptBeforeAFigureKeepsTheFile(t *testing.T) {
	out := outFile(t)
	benched(t, figuresOf("first", plain("a", 1, "ns")))
	if o := runAll(t.Context(), t, "", out); o.err != nil {
		t.Fatal(o.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	benched(t, bench{name: "first", measure: func(ctx context.Context, _ *run, _ report) error { cancel(); return ctx.Err() }})
	o := runAll(ctx, t, "", out)
	if o.err == nil || !strings.Contains(o.err.Error(), "as it was") || o.names() != "a" || o.table != "" {
		t.Errorf("%v, the file has %q", o.err, o.names())
	}
}

func TestRun_fitsIntoTwentyFiveMinutes(t *testing.T) {
	t.Parallel()
	var all time.Duration
	for _, b := range benches {
		if !b.alone {
			all += b.expected(defaultRounds)
		}
	}
	if all > 25*time.Minute {
		t.Errorf("a run of %d rounds takes %s, at most 25 min are allowed", defaultRounds, all)
	}
}
