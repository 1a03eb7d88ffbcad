package condition

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/printable"
)

// checkEstimate refuses an expression that would cost far too much for a pod with
// many entries in every list.
func (l *language) checkEstimate(checked *cel.Ast) error {
	estimate, err := l.environment.EstimateCost(checked, estimator{})
	if err != nil {
		return fmt.Errorf("the cost of the condition cannot be estimated: %s", printable.Short(err.Error(), maxFault))
	}
	if estimate.Max > maxEstimate {
		return fmt.Errorf("the condition could cost %d for a pod with %d entries in each list, %d are allowed; nest fewer of all, exists, map and filter",
			estimate.Max, typicalEntries, maxEstimate)
	}
	return nil
}

// estimator estimates the sizes of the parts of a pod.
type estimator struct{}

// EstimateSize returns how many entries or characters a part of the pod may have.
func (estimator) EstimateSize(part cost.AstNode) *cost.SizeEstimate {
	size := cost.SizeEstimate{}
	switch part.Type().Kind() {
	case types.ListKind, types.MapKind:
		size.Max = typicalEntries
	case types.StringKind, types.BytesKind, types.DynKind:
		size.Max = typicalText
	case types.StructKind:
		size.Max = 1
	default:
		return nil
	}
	return &size
}

// EstimateCallCost returns the cost of functions that this package adds to CEL.
func (estimator) EstimateCallCost(_, overload string, _ *cost.AstNode, _ []cost.AstNode) *cost.CallEstimate {
	switch overload {
	case overloadContainers:
		return cost.NewCallEstimate(cost.FixedCostEstimate(typicalEntries), &cost.SizeEstimate{Max: typicalEntries})
	case overloadQuantity:
		return cost.NewCallEstimate(cost.FixedCostEstimate(quantityCost), nil)
	}
	return nil
}

// These are operations that this package adds, by the names under which their costs
// are counted.
const (
	overloadQuantity   = "string_to_quantity"
	overloadContainers = "spec_containers"
	// overloadKeys is not a function, but an iteration over the keys of a map.
	overloadKeys = "sorted_keys"
)

// These are the costs of reading a quantity, and of converting a short text to a
// number or time.
const (
	quantityCost   = 20
	conversionCost = 3
)

// textPart is how many bytes of a text cost one unit to read.
const textPart = 10

func textWork(s string) uint64 { return 1 + uint64(len(s)/textPart) }

// trackers returns the costs of operations that CEL counts as a single step, or for
// which it counts too little. They include only operations that the expression
// uses, because CEL searches them for every step.
func (f *found) trackers() []cost.TrackerOption {
	matching := func(args []ref.Val) uint64 { return workOnPattern(args, f.programs) }
	counted := map[string]func(args []ref.Val) uint64{
		overloads.SizeString:        workOnText,
		overloads.SizeStringInst:    workOnText,
		overloads.StringToInt:       workOnConversion,
		overloads.StringToDuration:  workOnConversion,
		overloads.StringToTimestamp: workOnConversion,
		overloadQuantity:            func([]ref.Val) uint64 { return quantityCost },
		overloadContainers:          workOnContainers,
		overloadKeys:                workOnKeys,
		overloads.InList:            workOnList,
		overloads.Matches:           matching,
		overloads.MatchesString:     matching,
	}
	var options []cost.TrackerOption
	for overload, work := range counted {
		if !f.called[overload] {
			continue
		}
		options = append(options, cost.OverloadTracker(overload,
			func(args []ref.Val, _ ref.Val) *uint64 { return new(work(args)) }))
	}
	return options
}

func workOnConversion(args []ref.Val) uint64 { return conversionCost + workOnText(args) }

func workOnText(args []ref.Val) uint64 {
	s, _ := args[0].(types.String)
	return textWork(string(s))
}

// workOnList returns the cost of looking for args[0] in a list.
func workOnList(args []ref.Val) uint64 {
	l, ok := args[1].(traits.Lister)
	if !ok {
		return 1
	}
	n, _ := l.Size().(types.Int)
	return 1 + uint64(max(n, 0))*workOnText(args)
}

// workOnPattern returns the cost of an automaton that is in all its states at once.
func workOnPattern(args []ref.Val, programs map[string]int) uint64 {
	s, _ := args[0].(types.String)
	pattern, _ := args[1].(types.String)
	const part = 16
	return 1 + uint64(len(s)+1)*uint64(programs[string(pattern)])/part
}

func workOnContainers(args []ref.Val) uint64 {
	spec, ok := args[0].Value().(*corev1.PodSpec)
	if !ok {
		return 1
	}
	return 2 + uint64(countContainers(spec))
}

func workOnKeys(args []ref.Val) uint64 {
	m, ok := args[0].(*mapping)
	if !ok {
		return 1
	}
	const perKey = 4
	return 1 + perKey*uint64(m.entries.Len())
}
