package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
	"github.com/wardlet/wardlet/test/bench/policies/question"
)

const (
	// unmatched is the number of policies that are not asked.
	unmatched = 50
	// slow is the interval of decisions at 200 a second, slowDecisions is how many of them a round
	// has.
	slow          = 5 * time.Millisecond
	slowDecisions = 200
)

// ofBench is the bench's own guest in Go, which has the rule of all other figures.
var ofBench = guest.Guest{Language: guest.Go, Form: guest.Projection}.String()

// matched are the policies that are asked about each pod, with the names of their
// figures.
var matched = []struct {
	name string
	group
}{
	{"0", group{policies: 0}},
	{"1", group{policies: 1}},
	{"10", group{policies: 10}},
	{"50", group{policies: 50}},
	{"10-" + ofBench, group{policies: 10, plugin: ofBench}},
}

// ways are the ways in which a policy is not asked, with the names of their figures and their
// limits in nanoseconds.
var ways = []struct {
	name, match string
	limit       float64
}{
	{"source", otherSource, 200},
	{"namespace", otherNamespace, 200},
	{"labels", otherLabels, 200},
	{"operation", otherOperation, 200},
	{"condition", otherCondition, 2 * microsecond},
}

// planeName returns the name of a plane whose policies are all asked, aloneName that of their
// plugins without a plane.
func planeName(policies string) string { return "plane " + policies }
func aloneName(policies string) string { return "alone " + policies }

// unmatchedName returns the name of the cost of a policy that is not asked.
func unmatchedName(way string) string { return "unmatched " + way }

// measurePlanes measures decisions through a whole plane, with policies that are asked and with
// policies that are not asked, and the time of their plugins alone.
func measurePlanes(ctx context.Context, r *run, _ []string) (_ series, err error) {
	var asked, notAsked []*planeSide
	defer func() {
		for _, s := range append(asked, notAsked...) {
			err = errors.Join(err, s.close())
		}
	}()
	for _, m := range matched {
		s, err := r.planeSide(ctx, planeName(m.name), m.group)
		if err != nil {
			return nil, err
		}
		asked = append(asked, s)
		if err := s.addAlone(ctx, m.name, m.group); err != nil {
			return nil, err
		}
	}
	for _, way := range ways {
		s, err := r.planeSide(ctx, unmatchedName(way.name), group{policies: unmatched, match: way.match})
		if err != nil {
			return nil, err
		}
		notAsked = append(notAsked, s)
	}
	calm, err := newSteady()
	if err != nil {
		return nil, err
	}
	telling := asked[0].plane.telling()
	if err := telling.size(ctx); err != nil {
		return nil, err
	}
	measured := series{}
	for range r.rounds {
		for range turns {
			if err := telling.verdicts(ctx, calm, measured); err != nil {
				return nil, err
			}
			for _, s := range asked {
				if err := s.turns(ctx, calm, measured); err != nil {
					return nil, err
				}
			}
			for _, s := range notAsked {
				if err := s.beside(ctx, calm, measured, asked[0]); err != nil {
					return nil, err
				}
			}
		}
		for _, s := range asked[1:] {
			for _, awake := range []bool{true, false} {
				if err := s.spaced.atRate(ctx, calm, measured, awake); err != nil {
					return nil, err
				}
			}
		}
		if err := r.told(measured.after("planes", calm)); err != nil {
			return nil, err
		}
	}
	return measured.after("planes", calm), nil
}

// planeSide measures the decisions of a plane.
type planeSide struct {
	plane *plane
	// spaced decides after the previous decision is tidied up, packed decides at once, and alone
	// asks the plugins without a plane.
	spaced, packed, alone side
	plugins               []*wasm.Plugin
}

func (r *run) planeSide(ctx context.Context, name string, policies group) (*planeSide, error) {
	p, err := r.newPlane(ctx, policies)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &planeSide{plane: p}
	if err := p.tell(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), s.close())
	}
	s.spaced = side{name: name, decide: p.ask, settle: p.tidied, every: slow, paced: slowDecisions}
	s.packed = side{name: name + " packed", decide: p.ask}
	for _, of := range []*side{&s.spaced, &s.packed} {
		if err := of.size(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), s.close())
		}
	}
	return s, nil
}

// addAlone loads the plugins of a group's policies into the plane's engine once more. They are
// asked one after the other.
func (s *planeSide) addAlone(ctx context.Context, name string, of group) error {
	module, err := readModule(s.plane.directory.built, of.module(), 0)
	if err != nil {
		return err
	}
	for i := range of.policies {
		options := wasm.Options{
			Policy: fmt.Sprintf("alone-%02d", i), Hooks: []string{string(abi.HookAdmit)}, MemoryPages: 64,
			Fuel: 10_000_000, OutputBytes: 64 << 10, Node: "node-1",
		}
		if of.plugin == "" {
			options.Settings = map[string]any{"allow": []any{"registry.example/*", allowed(options.Policy, 0)}}
		}
		plugin, err := s.plane.engine.Load(ctx, module, options)
		if err != nil {
			return err
		}
		s.plugins = append(s.plugins, plugin)
	}
	request := question.Request(s.plane.pod())
	s.alone = side{
		name: aloneName(name),
		decide: func(ctx context.Context) error {
			for _, p := range s.plugins {
				if err := (&loaded{p, request}).admit(ctx); err != nil {
					return err
				}
			}
			return nil
		},
		settle: func(ctx context.Context) {
			for _, p := range s.plugins {
				p.Reset(ctx)
			}
		},
	}
	return s.alone.size(ctx)
}

// turns measures a turn of each way to decide.
func (s *planeSide) turns(ctx context.Context, calm *steady, measured series) error {
	errs := []error{s.packed.turn(ctx, calm, measured), s.packed.verdicts(ctx, calm, measured), s.spaced.verdicts(ctx, calm, measured)}
	if len(s.plugins) > 0 {
		errs = append(errs, s.alone.verdicts(ctx, calm, measured))
	}
	return errors.Join(errs...)
}

// beside measures how much longer a decision is for each policy that is not asked, compared with a
// plane without policies. Both planes decide in turn.
func (s *planeSide) beside(ctx context.Context, calm *steady, measured series, none *planeSide) error {
	runtime.GC()
	both := [2]*side{&none.spaced, &s.spaced}
	var times [2][]float64
	ok, err := calm.measure(func() error {
		times = [2][]float64{}
		for range min(none.spaced.calls, s.spaced.calls) {
			for i, one := range both {
				start := time.Now()
				if err := one.decide(ctx); err != nil {
					return err
				}
				times[i] = append(times[i], float64(time.Since(start)))
				one.after(ctx)
			}
		}
		return nil
	})
	measured.addIf(ok, s.spaced.name, (median(times[1])-median(times[0]))/unmatched)
	return err
}

// telling measures the time to compute which instance a pod is, which the plane does once for each
// pod.
func (p *plane) telling() *side {
	return &side{name: "instance", decide: func(context.Context) error {
		_, err := pod.Instance(p.turn().Pod)
		return err
	}}
}

// tidied waits until the evaluator has tidied up the previous decision: only then does it accept
// the next question. A mirror pod is answered at once and not put on record.
func (p *plane) tidied(ctx context.Context) {
	p.Judge(p.mirror, p.answer)
	select {
	case <-p.answers:
	case <-ctx.Done(): // the next question returns the error
	}
}

func (s *planeSide) close() error {
	var errs []error
	for _, p := range s.plugins {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, s.plane.close())...)
}
