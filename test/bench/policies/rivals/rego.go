package rivals

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

//go:embed rule.rego
var regoRule string

const regoQuery = "data.bench.allow"

// Rego is the rule in OPA's evaluator.
type Rego struct{ query rego.PreparedEvalQuery }

// NewRego compiles the rule.
func NewRego(ctx context.Context) (*Rego, error) {
	query, err := rego.New(rego.Query(regoQuery), rego.Module("rule.rego", regoRule)).PrepareForEval(ctx)
	return &Rego{query}, err
}

// Parsed returns a pod in the form that OPA's evaluator reads.
func Parsed(object map[string]any) (ast.Value, error) { return ast.InterfaceToValue(object) }

// Allowed evaluates a pod that has been parsed before.
func (r *Rego) Allowed(ctx context.Context, pod ast.Value) (bool, error) {
	results, err := r.query.Eval(ctx, rego.EvalParsedInput(pod))
	if err != nil {
		return false, err
	}
	if len(results) != 1 || len(results[0].Expressions) != 1 {
		return false, fmt.Errorf("the rule gives %d results", len(results))
	}
	allowed, ok := results[0].Expressions[0].Value.(bool)
	if !ok {
		return false, fmt.Errorf("the rule gives %v", results[0].Expressions[0].Value)
	}
	return allowed, nil
}
