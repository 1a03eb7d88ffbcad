package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

const (
	// maxPrice is the most nanoseconds of processor time per unit.
	maxPrice = 3.0
	// inARow is the number of calls per hook, longInARow that of long calls.
	inARow, longInARow = 200, 6
	// calm is the number of hooks before the measured ones: after them an instance is trusted.
	// measured is the number of measured hooks.
	calm, measured = 10, 7
	// initLoads is how often a module is loaded that makes its calls in its initialisation.
	initLoads = 4
	// priceTries is how often an expensive call is measured, because the machine may do other work.
	priceTries = 3
)

// price is the cost of a call for a plugin of an owner.
type price struct {
	*call

	owner string
	// perUnit is the nanoseconds per billed unit, each the nanoseconds per call.
	perUnit, each float64
	// units is the number of units of one call.
	units int64
}

// prices measures all calls for both owners. It returns, for each function, the most expensive call
// that any tenant can make; tooDear lists the calls that cost too much.
func prices(ctx context.Context, out io.Writer, engine *wasm.Engine, only *regexp.Regexp, all bool) (dearest []*price, tooDear, err error) {
	todo := slices.DeleteFunc(calls(), func(c *call) bool { return !only.MatchString(c.name()) })
	fmt.Fprintf(out, "%d host calls, each by a plugin of the operator and of a tenant: at most %.0f ns for a unit that is billed\n", len(todo), maxPrice)
	var missed []error
	begun := time.Now()
	for n, c := range todo {
		for _, owner := range []string{"", "red"} {
			p, err := c.leastPrice(ctx, engine, owner)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", c.name(), err)
			}
			if p.perUnit > maxPrice {
				missed = append(missed, errors.New(p.String()))
			}
			if all || p.perUnit > maxPrice {
				fmt.Fprintln(out, " ", p)
			}
			if owner != "" && !c.atInit && c.node == nil {
				dearest = keepDearest(dearest, p)
			}
		}
		if (n+1)%40 == 0 {
			fmt.Fprintf(out, "  %d of %d after %s\n", n+1, len(todo), time.Since(begun).Round(time.Second))
		}
	}
	return dearest, errors.Join(missed...), nil
}

// keepDearest keeps the most expensive call of each function.
func keepDearest(all []*price, p *price) []*price {
	i := slices.IndexFunc(all, func(q *price) bool { return q.of.Name == p.of.Name })
	switch {
	case i < 0:
		return append(all, p)
	case p.perUnit > all[i].perUnit:
		all[i] = p
	}
	return all
}

func (p *price) String() string {
	owner := "a tenant's"
	if p.owner == "" {
		owner = "the operator's"
	}
	return fmt.Sprintf("%-14s %-50s %8.2f ns a unit, %10.0f ns and %8d units a call", owner, p.name(), p.perUnit, p.each, p.units)
}

// leastPrice measures a call, and again if it costs too much.
func (c *call) leastPrice(ctx context.Context, engine *wasm.Engine, owner string) (least *price, err error) {
	for range priceTries {
		p, err := c.price(ctx, engine, owner)
		if err != nil {
			return nil, err
		}
		if least == nil || p.perUnit < least.perUnit {
			least = p
		}
		if least.perUnit <= maxPrice {
			break
		}
	}
	return least, nil
}

// price measures a call.
func (c *call) price(ctx context.Context, engine *wasm.Engine, owner string) (*price, error) {
	if c.atInit {
		return c.initPrice(ctx, engine, owner)
	}
	n := inARow
	if c.long {
		n = longInARow
	}
	if c.most > 0 {
		n = min(n, c.most)
	}
	billed, took, err := c.hooks(ctx, engine, owner, n)
	if err != nil {
		return nil, err
	}
	return &price{call: c, owner: owner, perUnit: float64(took) / float64(billed), each: float64(took) / float64(n), units: billed / int64(n)}, nil
}

// hooks asks a plugin that makes n calls in each hook, and returns the median of the billed fuel
// and of the processor time of several hooks.
func (c *call) hooks(ctx context.Context, engine *wasm.Engine, owner string, n int) (billed int64, took time.Duration, err error) {
	p, err := engine.Load(ctx, c.module(n), c.options(owner))
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	type hook struct {
		billed int64
		took   time.Duration
	}
	var all []hook
	r := c.question()
	for i := range calm + measured {
		begun := processTime()
		result, err := p.Admit(ctx, r)
		if err != nil {
			return 0, 0, err
		}
		p.Reset(ctx)
		if i >= calm {
			all = append(all, hook{result.Fuel + result.Extra, processTime() - begun})
		}
	}
	slices.SortFunc(all, func(a, b hook) int {
		return int(a.took*time.Duration(b.billed) - b.took*time.Duration(a.billed))
	})
	middle := all[len(all)/2]
	return middle.billed, middle.took, nil
}

// initPrice measures a call that is made in wardlet_init, by comparing a load with many calls to a
// load with one.
func (c *call) initPrice(ctx context.Context, engine *wasm.Engine, owner string) (*price, error) {
	load := func(n int) (fuel int64, took time.Duration, err error) {
		for i := range initLoads {
			begun := processTime()
			p, err := engine.Load(ctx, c.module(n), c.options(owner))
			if err != nil {
				return 0, 0, err
			}
			if passed := processTime() - begun; i > 0 && (took == 0 || passed < took) { // the first compiles
				took = passed
			}
			fuel = p.LoadFuel()
			p.Close()
		}
		return fuel, took, nil
	}
	one, short, err := load(1)
	if err != nil {
		return nil, err
	}
	n := 1000
	if c.most > 0 {
		n = min(n, c.most)
	}
	many, long, err := load(n)
	if err != nil {
		return nil, err
	}
	billed, took := many-one, long-short
	return &price{call: c, owner: owner, perUnit: float64(took) / float64(billed), each: float64(took) / float64(n-1), units: billed / int64(n-1)}, nil
}

// processTime returns the processor time of this process on all processors.
func processTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) // it exists on every Linux
	return time.Duration(t.Nano())
}
