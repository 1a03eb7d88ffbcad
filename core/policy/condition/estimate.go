package condition

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"

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
