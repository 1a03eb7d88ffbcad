package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/test/bench/policies/bare"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
	"github.com/wardlet/wardlet/test/bench/policies/question"
)

// additional is how many policies are added to the first policy.
const additional = 4

// measureResident measures the memory of an additional policy with an instance that has evaluated a
// pod. The arguments are the side (agent or bare), the language, and whether the policies share a
// module or each have another.
func measureResident(ctx context.Context, r *run, args []string) (_ series, err error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("%q: want a side, a language and same or other", args)
	}
	g := guest.Guest{Language: args[1], Form: guest.Projection}
	binary, err := g.Read(r.dir)
	if err != nil {
		return nil, err
	}
	add, stop, err := r.adder(ctx, args[0], g)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var first float64
	for i := range 1 + additional {
		number := i
		if args[2] == "same" {
			number = 0
		}
		module, err := guest.Variant(binary, number)
		if err != nil {
			return nil, err
		}
		if err := add(module); err != nil {
			return nil, err
		}
		if i == 0 {
			if first, err = residentNow(); err != nil {
				return nil, err
			}
		}
	}
	last, err := residentNow()
	if err != nil {
		return nil, err
	}
	runtime.KeepAlive(binary)
	return series{"resident " + strings.Join(args, " "): {(last - first) / additional}}, nil
}

// adder returns a function that adds a policy and lets it evaluate one pod.
func (r *run) adder(ctx context.Context, side string, g guest.Guest) (add func(module []byte) error, stop func() error, err error) {
	asked, err := question.Pod()
	if err != nil {
		return nil, nil, err
	}
	switch side {
	case "agent":
		a := &agent{}
		if a.engine, err = r.newEngine(); err != nil {
			return nil, nil, err
		}
		return func(module []byte) error {
			plugin, err := load(ctx, a.engine, g, module)
			if err != nil {
				return err
			}
			l := &loaded{plugin, question.Request(asked)}
			a.guests = append(a.guests, l)
			return l.decide(ctx)
		}, a.close, nil
	case "bare":
		pod, err := bare.Encode(asked)
		if err != nil {
			return nil, nil, err
		}
		code, err := bare.New(ctx, r.bareCache())
		if err != nil {
			return nil, nil, err
		}
		return func(module []byte) error { return addBare(ctx, code, pod, module) }, func() error { return code.Close(ctx) }, nil
	}
	return nil, nil, fmt.Errorf("side %q is neither agent nor bare", side)
}

// addBare instantiates an unchanged module, with memory of wazero's own.
func addBare(ctx context.Context, code *bare.Runtime, pod *bare.Pod, module []byte) error {
	compiled, err := code.Compile(ctx, module)
	if err != nil {
		return err
	}
	g, err := compiled.Instantiate(ctx, pod, 0)
	if err != nil {
		return err
	}
	if err := g.Hand(); err != nil {
		return err
	}
	if answer, err := g.Judge(); err != nil || answer != 0 {
		return fmt.Errorf("the pod is not allowed: %d, %w", answer, err)
	}
	return nil
}

// residentNow returns the memory of this process: its own pages, the pages of files it has mapped,
// and all of its files in memory, mapped or not.
func residentNow() (float64, error) {
	runtime.GC()
	runtime.GC() // frees what finalizers have released
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, name := range []string{"RssAnon:", "RssFile:"} {
		kilobytes, err := statusLine(string(status), name)
		if err != nil {
			return 0, err
		}
		total += kilobytes * 1024
	}
	files, err := filesInMemory()
	return total + files, err
}

func statusLine(status, name string) (float64, error) {
	_, rest, _ := strings.Cut(status, "\n"+name)
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[1] != "kB" {
		return 0, fmt.Errorf("/proc/self/status has no line %s in kB", name)
	}
	return strconv.ParseFloat(fields[0], 64)
}

// filesInMemory returns the size of the memfd files that this process has open, in bytes.
func filesInMemory() (total float64, err error) {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return 0, err
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, "/memfd:") {
			continue // this file was open only while the directory was listed
		}
		info, err := os.Stat(link)
		if err != nil {
			return 0, err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			total += float64(stat.Blocks * 512)
		}
	}
	return total, nil
}
