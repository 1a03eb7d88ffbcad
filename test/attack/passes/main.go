// Command passes measures the time of each pass over a module in the agent's own process, for
// modules that are as expensive as possible for their length. It fails if a byte takes much longer
// than a byte of an ordinary plugin. Reading the sections has a limit only together with the other
// passes, because for an ordinary plugin that pass skips the code, which is nearly the whole
// module. The time to load the code that a child compiled is shown but has no limit: the child has
// tried that within limits of its own, and it is charged to the module's owner.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
	"github.com/wardlet/wardlet/test/wasmtest/worst"
)

// limit is the highest allowed ratio of the time per byte to that of the ordinary plugin.
const limit = 5

// retries is how often a module that misses the limit is measured again, in turn with the ordinary
// plugin.
const retries = 3

func main() {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	plugin := flag.String("plugin", "build/policies/allowed-images.wasm", "the ordinary plugin")
	load := flag.Bool("load", true, "also compile each module and measure what loading its code takes")
	flag.Parse()
	if err := run(os.Stdout, *plugin, *load); err != nil {
		fmt.Fprintln(os.Stderr, "passes:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, plugin string, load bool) error {
	runtime.LockOSThread() // the measurement is this thread's time
	defer runtime.UnlockOSThread()
	ordinary, err := os.ReadFile(plugin)
	if err != nil {
		return fmt.Errorf("read the ordinary plugin (make plugins builds it): %w", err)
	}
	dir, err := os.MkdirTemp("", "wardlet-passes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{}
	if load {
		limits := compile.Limits{CPU: 30 * time.Second, Wall: 10 * time.Minute}
		if b.engine, err = wasm.NewEngine(dir+"/compiled", slog.New(slog.DiscardHandler), wasm.WithCompiling(limits, compile.Normal)); err != nil {
			return err
		}
		defer b.engine.Close()
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "ns per byte of\tbytes\tdigest\tparse\tverify\tmeter\tall\ttimes\tinspect\ttimes\tload\t")
	base := b.measure(ordinary)
	base.show(table, "the ordinary plugin", &base)
	var missed error
	for _, family := range worst.All() {
		binary, base := family.Module(worst.Full), base
		f := b.measure(binary)
		if f.misses(&base) { // a machine's speed may change for longer than one module takes
			load := f.load
			f, base = b.passes(binary), b.passes(ordinary)
			for range retries {
				f.least(b.passes(binary))
				base.least(b.passes(ordinary))
			}
			f.load = load
		}
		f.show(table, family.Name, &base)
		if f.misses(&base) {
			missed = errors.Join(missed, fmt.Errorf("%s: a byte takes more than %d times that of the ordinary plugin", family.Name, limit))
		}
	}
	return errors.Join(table.Flush(), missed)
}

// figures are nanoseconds per byte of a module.
type figures struct {
	bytes                                       int
	digest, parse, verify, meter, load, inspect float64
}

// least keeps the smaller value of each figure.
func (f *figures) least(other figures) {
	for mine, its := range map[*float64]float64{
		&f.digest: other.digest, &f.parse: other.parse, &f.verify: other.verify, &f.meter: other.meter, &f.inspect: other.inspect,
	} {
		*mine = min(*mine, its)
	}
}

// misses reports whether a byte takes much longer than a byte of the ordinary plugin.
func (f *figures) misses(base *figures) bool {
	return f.verify > limit*base.verify || f.meter > limit*base.meter || f.all() > limit*base.all() || f.inspect > limit*base.inspect
}

// all returns the time of all passes before a child compiles the module.
func (f *figures) all() float64 { return f.digest + f.parse + f.verify + f.meter }

func (f *figures) show(to io.Writer, name string, base *figures) {
	fmt.Fprintf(to, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", name, f.bytes,
		f.digest, f.parse, f.verify, f.meter, f.all(), f.all()/base.all(), f.inspect, f.inspect/base.inspect, f.load)
}

type bench struct {
	// engine is nil if no module is loaded.
	engine *wasm.Engine
}

// measure measures the passes, and the time to load the module.
func (b *bench) measure(binary []byte) figures {
	f := b.passes(binary)
	if f.meter > 0 && b.engine != nil {
		f.load = float64(b.load(binary)) / float64(len(binary))
	}
	return f
}

func (b *bench) passes(binary []byte) figures {
	f := figures{bytes: len(binary)}
	per := func(pass func()) float64 { return float64(best(pass)) / float64(len(binary)) }
	caps := verify.Default()
	ctx := context.Background()
	f.digest = per(func() { sha256.Sum256(binary) })
	f.inspect = per(func() { wasm.Inspect(binary) })
	var m *module.Module
	var err error
	f.parse = per(func() { m, err = module.Parse(binary, caps.Counts) })
	if err != nil {
		return f
	}
	var refused []*module.Fault
	f.verify = per(func() { _, refused = verify.Check(ctx, m, caps) })
	if len(refused) > 0 {
		return f
	}
	// This includes the digest of the result, which names the code.
	f.meter = per(func() {
		var r *meter.Rewritten
		if r, err = meter.Rewrite(ctx, m, caps.Metered); err == nil {
			sha256.Sum256(r.Binary)
		}
	})
	return f
}

// load returns the time to load a compiled module, 0 if it cannot be loaded.
func (b *bench) load(binary []byte) time.Duration {
	o := wasm.Options{
		Policy: "passes", MemoryPages: 1024, Fuel: 100_000_000, OutputBytes: 1 << 16,
		Settings: map[string]any{"allow": []any{"registry.example/*"}}, // the ordinary plugin wants them
	}
	least := time.Duration(0)
	for range 4 { // the first load compiles
		cost := time.Duration(0)
		ctx := wasm.WithCost(context.Background(), func(cpu time.Duration) { cost += cpu })
		plugin, err := b.engine.Load(ctx, binary, o)
		if err != nil {
			return 0
		}
		if err := plugin.Close(); err != nil {
			return 0
		}
		if least == 0 || cost < least {
			least = cost
		}
	}
	return least
}

// best returns the least processor time of several tries.
func best(pass func()) time.Duration {
	least := time.Duration(0)
	for range 5 {
		began := threadTime()
		pass()
		if took := threadTime() - began; least == 0 || took < least {
			least = took
		}
	}
	return least
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
