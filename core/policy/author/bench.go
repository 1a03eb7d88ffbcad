package author

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/policy/eval"
)

// BenchOptions say how long is measured.
type BenchOptions struct {
	// Count is how many calls a round has, Rounds how many rounds there are; both at
	// least 1.
	Count, Rounds int
	// Pods are put to the policy instead of its tests, unless there are none.
	Pods []Manifest
}

// Bench is what a policy takes.
type Bench struct {
	Policy string `json:"policy"`
	Limits Limits `json:"limits"`
	// ModuleBytes is the length of the module, StartFuel what its start took: exact.
	// Start is how long that took with its compilation, Rebuild how long to make
	// another instance at least, in nanoseconds.
	ModuleBytes int           `json:"moduleBytes"`
	StartFuel   int64         `json:"startFuel"`
	Start       time.Duration `json:"startNanoseconds"`
	Rebuild     time.Duration `json:"rebuildNanoseconds"`
	// MemoryPages is the guest's memory between calls, in pages of 64 KiB.
	MemoryPages int           `json:"memoryPages"`
	Calls       []CallFigures `json:"calls"`
}

// CallFigures are what one question takes.
type CallFigures struct {
	Name   string `json:"name"`
	Answer string `json:"answer"`
	// NotAsked says why the plugin was not asked, empty where it was.
	NotAsked string `json:"notAsked,omitempty"`
	// Fuel is what a call takes of limits.fuel, HostFuel what conditions and the patch
	// take beside it, OutputBytes what it returns: the same on every machine.
	Fuel        int64 `json:"fuel"`
	HostFuel    int64 `json:"hostFuel"`
	OutputBytes int   `json:"outputBytes"`
	// ExtraFuel is what else it costs the host, in units of fuel: the median.
	ExtraFuel int64 `json:"extraFuel"`
	// WrittenPages are pages of 4 KiB that a call has written to; -1 where the system
	// does not tell.
	WrittenPages int `json:"writtenPages"`
	// Median and P99 are times of a call until the answer, P99 the median of those of
	// the rounds; Settled is the median time to make the plugin ready for the next. In
	// nanoseconds, of this machine.
	Median  time.Duration `json:"medianNanoseconds"`
	P99     time.Duration `json:"p99Nanoseconds"`
	Settled time.Duration `json:"settledNanoseconds"`
}

// Cost is what a question takes of a tenant's fuel_per_second, but for its record.
func (f *CallFigures) Cost() int64 { return f.Fuel + f.HostFuel + f.ExtraFuel }

// warmUp is how many calls come before those that are measured.
const warmUp = 50

// Measure measures a draft. The error says why it cannot be asked, or is that of ctx.
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
		d.Settle(ctx)
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
			d.Settle(ctx)
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

// median sorts the values, of which there is one at least.
func median[T int64 | time.Duration](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
