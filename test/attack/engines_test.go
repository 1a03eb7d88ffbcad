package attack

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// runner is an engine of one kind, with a well-behaved neighbour loaded into it.
type runner struct {
	name string
	*wasm.Engine
	log       *logged
	neighbour *neighbour
	// slower is the factor by which code may be slower than on the compiler.
	slower int
	// fuelPart divides the fuel of a module that must use up all its fuel.
	fuelPart int64
}

// runners returns an engine of each kind. The test closes the plugins in them.
func runners(t *testing.T) []*runner {
	t.Helper()
	compiler := &runner{name: "compiler", slower: 1, fuelPart: 1}
	interpreter := &runner{name: "interpreter", slower: 10, fuelPart: 20}
	if *whole {
		interpreter.fuelPart = 1
	}
	compiler.Engine, compiler.log = engine(t, patient)
	interpreter.Engine, interpreter.log = engine(t, patient, wasm.WithInterpreter())
	all := []*runner{compiler, interpreter}
	for _, r := range all {
		r.neighbour = settle(t, r.Engine)
	}
	return all
}

// outcomes are the results of a module's questions.
type outcomes map[string]Outcome

// fueled returns the module with its fuel in this engine. Only a module that must use up all its
// fuel gets less: others would run out of fuel before they end.
func (r *runner) fueled(m *Module) *Module {
	with := *m
	for i := range m.Questions {
		if m.Questions[i].Want.Code == abi.FuelExhausted {
			with.fuel = m.fuel / r.fuelPart
		}
	}
	return &with
}

// costlyInit are modules that do not use up their fuel, but whose initialisation uses most of its
// fuel.
var costlyInit = map[string]bool{"trap-after-costly-init": true}

// endless reports whether a module uses up, or nearly, the fuel of its initialisation, which no
// policy can change, in an engine that runs modules with only a part of their fuel.
func (r *runner) endless(m *Module) bool {
	return r.fuelPart > 1 && (costlyInit[m.Name] || m.Refused != nil && m.Refused.Code == abi.FuelExhausted)
}

// ends checks that an initialisation that takes too long ends with its context, or earlier because
// calls of the host use up its fuel.
func (r *runner) ends(t *testing.T, m *Module) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	p, err := r.Load(ctx, m.Binary, m.Options(m.Name))
	if !errors.Is(err, context.DeadlineExceeded) && (m.Refused == nil || m.Refused.failed(err) != nil) {
		t.Errorf("%v, %v; want the end of its context", p, err)
	}
}

// same returns an error if a module's outcomes in two engines differ in answers, texts or fuel. The
// fuel that the module was given is part of some texts, and may differ.
func same(a, b outcomes, ofA, ofB *Module) error {
	var faults []error
	for question, one := range a {
		other := b[question]
		other.Failure = strings.ReplaceAll(other.Failure, strconv.FormatInt(ofB.fuel, 10), strconv.FormatInt(ofA.fuel, 10))
		if !reflect.DeepEqual(one, other) {
			faults = append(faults, fmt.Errorf("%s:\n%+v\non the other engine:\n%+v", question, one, other))
		}
	}
	if len(a) != len(b) {
		faults = append(faults, fmt.Errorf("%d outcomes on one engine, %d on the other", len(a), len(b)))
	}
	return errors.Join(faults...)
}

func TestADifferenceBetweenEnginesIsFound(t *testing.T) {
	t.Parallel()
	answer := outcomes{"q": {Answer: "deny", Reason: "Why", Fuel: 7}}
	much, little := &Module{fuel: 2000}, &Module{fuel: 100}
	for name, test := range map[string]struct {
		other outcomes
		same  bool
	}{
		"nothing":         {outcomes{"q": {Answer: "deny", Reason: "Why", Fuel: 7}}, true},
		"an answer":       {outcomes{"q": {Answer: "allow", Reason: "Why", Fuel: 7}}, false},
		"a text":          {outcomes{"q": {Answer: "deny", Reason: "Who", Fuel: 7}}, false},
		"a unit of fuel":  {outcomes{"q": {Answer: "deny", Reason: "Why", Fuel: 8}}, false},
		"a failure":       {outcomes{"q": {Failure: "Trap: unreachable"}}, false},
		"no question":     {outcomes{}, false},
		"a question more": {outcomes{"q": answer["q"], "r": answer["q"]}, false},
	} {
		if err := same(answer, test.other, much, little); (err == nil) != test.same {
			t.Errorf("%s is another: %v", name, err)
		}
	}
	if err := same(outcomes{"q": {Failure: "more than 2000"}}, outcomes{"q": {Failure: "more than 100"}}, much, little); err != nil {
		t.Error(err)
	}
}
