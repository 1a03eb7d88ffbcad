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

// checkEstimate refuses an expression that would cost far too much for a pod
// with many of everything.
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

// estimator knows how large the parts of a pod are taken to be.
type estimator struct{}

// EstimateSize is how many entries or characters a part of the pod has.
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

// EstimateCallCost knows what our own functions cost.
func (estimator) EstimateCallCost(_, overload string, _ *cost.AstNode, _ []cost.AstNode) *cost.CallEstimate {
	switch overload {
	case overloadContainers:
		return cost.NewCallEstimate(cost.FixedCostEstimate(typicalEntries), &cost.SizeEstimate{Max: typicalEntries})
	case overloadQuantity:
		return cost.NewCallEstimate(cost.FixedCostEstimate(quantityCost), nil)
	}
	return nil
}

// Operations of our own, by the names that costs are counted under.
const (
	overloadQuantity   = "string_to_quantity"
	overloadContainers = "spec_containers"
	// overloadKeys is no function: a map whose keys are gone through.
	overloadKeys = "sorted_keys"
)

// What it costs to read a quantity, and to make a number or time of a short text.
const (
	quantityCost   = 20
	conversionCost = 3
)

// textPart is how many bytes of a text are gone through for a unit.
const textPart = 10

func textWork(s string) uint64 { return 1 + uint64(len(s)/textPart) }

// trackers say what operations cost that CEL takes for a single step, or for
// less than they are: of those that an expression does, as each is looked for among
// them for every step.
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

// workOnList is that of looking for args[0] in a list.
func workOnList(args []ref.Val) uint64 {
	l, ok := args[1].(traits.Lister)
	if !ok {
		return 1
	}
	n, _ := l.Size().(types.Int)
	return 1 + uint64(max(n, 0))*workOnText(args)
}

// workOnPattern is that of an automaton that is in all its states at once.
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
