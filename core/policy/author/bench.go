package author

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/policy/eval"
)

// BenchOptions say what is measured, and how often.
type BenchOptions struct {
	// Count is how many calls a round has. Rounds is how many rounds there are. Both are at
	// least 1.
	Count, Rounds int
	// Pods are measured instead of the policy's tests, unless there are none.
	Pods []Manifest
}

// Bench has the measured cost of a policy.
type Bench struct {
	Policy string `json:"policy"`
	Limits Limits `json:"limits"`
	// ModuleBytes is the length of the module. StartFuel is the fuel of its start, which is
	// exact. Start is how long compilation and start took. Rebuild is the least time to
	// make another instance. Both are in nanoseconds.
	ModuleBytes int           `json:"moduleBytes"`
	StartFuel   int64         `json:"startFuel"`
	Start       time.Duration `json:"startNanoseconds"`
	Rebuild     time.Duration `json:"rebuildNanoseconds"`
	// MemoryPages is the guest's memory between calls, in pages of 64 KiB.
	MemoryPages int           `json:"memoryPages"`
	Calls       []CallFigures `json:"calls"`
}

// CallFigures are the costs of one question.
type CallFigures struct {
	Name   string `json:"name"`
	Answer string `json:"answer"`
	// NotAsked says why the plugin was not asked, empty if it was asked.
	NotAsked string `json:"notAsked,omitempty"`
	// Fuel is the part of limits.fuel that a call uses. HostFuel is the fuel of conditions
	// and the patch. OutputBytes is the size of the result. All three are the same on every
	// machine.
	Fuel        int64 `json:"fuel"`
	HostFuel    int64 `json:"hostFuel"`
	OutputBytes int   `json:"outputBytes"`
	// ExtraFuel is the median of the other costs for the host, in units of fuel.
	ExtraFuel int64 `json:"extraFuel"`
	// WrittenPages is the number of 4 KiB pages that a call has written to; -1 if the
	// system does not report it.
	WrittenPages int `json:"writtenPages"`
	// Median and P99 are times of a call until the answer. P99 is the median of the values
	// of all rounds. Settled is the median time to make the plugin ready for the next call.
	// All are in nanoseconds, on this machine.
	Median  time.Duration `json:"medianNanoseconds"`
	P99     time.Duration `json:"p99Nanoseconds"`
	Settled time.Duration `json:"settledNanoseconds"`
}

// Cost returns the part of a tenant's fuel_per_second that a question uses, without its
// record.
func (f *CallFigures) Cost() int64 { return f.Fuel + f.HostFuel + f.ExtraFuel }

// warmUp is the number of calls before the measured ones.
const warmUp = 50

// Measure measures a draft. The error says why the draft cannot be asked, or is the error
// of ctx.
func Measure(ctx context.Context, d *Draft, o BenchOptions) (*Bench, error) {
	if d.Err != nil {
		return nil, d.Err
	}
	if d.Group() {
		return nil, fmt.Errorf("%s is a group and has no plugin to measure: measure its members", d.Document)
	}
	b := &Bench{Policy: d.Name, Limits: d.Limits(), ModuleBytes: d.Size, StartFuel: d.LoadFuel, Start: d.Took, Calls: []CallFigures{}}
	add := func(name string, call Call, err error) error {
		if err != nil {
			return err
		}
		f, err := measure(ctx, d, call, o)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", d.Name, name, err)
		}
		f.Name = name
		b.Calls = append(b.Calls, f)
		return nil
	}
	if len(o.Pods) == 0 {
		for _, t := range d.Tests() {
			call, err := d.Prepare(t)
			if err := add(t.Name, call, err); err != nil {
				return nil, err
			}
		}
	}
	for i := range o.Pods {
		call, err := d.PreparePod(&o.Pods[i])
		if err := add(o.Pods[i].Path, call, err); err != nil {
			return nil, err
		}
	}
	if len(b.Calls) == 0 {
		return nil, fmt.Errorf("%s has no [[test]] to measure; add one, or name pods with --pod", d.Document)
	}
	if f, ok := d.Footprint(); ok {
		b.MemoryPages, b.Rebuild = (f.Size+1<<16-1)>>16, f.Rebuild
	}
	return b, nil
}

// measure measures one question.
func measure(ctx context.Context, d *Draft, call Call, o BenchOptions) (CallFigures, error) {
	var first eval.Result
	written := -1
	for range warmUp {
		s, err := call(ctx)
		if err != nil {
			return CallFigures{}, err
		}
		first = s
		if m, ok := d.Footprint(); ok && m.Written >= 0 {
			written = m.Written >> 12
		}
		d.Reset(ctx)
	}
	f := CallFigures{Answer: first.Answer, NotAsked: first.NotAsked, Fuel: first.Fuel, HostFuel: first.HostFuel, OutputBytes: first.Output(), WrittenPages: written}
	var times, settled, slowest []time.Duration
	var extra []int64
	for range o.Rounds {
		round := make([]time.Duration, 0, o.Count)
		for range o.Count {
			begun := time.Now()
			s, err := call(ctx)
			answered := time.Now()
			if err != nil {
				return f, err
			}
			if s.Fuel != f.Fuel || s.HostFuel != f.HostFuel {
				return f, fmt.Errorf("the same call took %d units of fuel, and then %d: this is a fault of wardlet", f.Fuel, s.Fuel)
			}
			before := time.Now()
			d.Reset(ctx)
			settled = append(settled, time.Since(before))
			round, extra = append(round, answered.Sub(begun)), append(extra, s.Extra)
		}
		slices.Sort(round)
		slowest = append(slowest, round[len(round)*99/100])
		times = append(times, round...)
	}
	f.Median, f.P99, f.Settled, f.ExtraFuel = median(times), median(slowest), median(settled), median(extra)
	return f, nil
}

// median sorts the values and returns the median. There must be at least one value.
func median[T int64 | time.Duration](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
