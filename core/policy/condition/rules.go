package condition

import (
	"fmt"
	"regexp"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"
)

// found holds what the program of an expression needs to know about it.
type found struct {
	// maps are the IDs of the parts over whose keys the expression iterates.
	maps map[int64]bool
	// patterns are the regular expressions by their texts. programs are their
	// numbers of instructions.
	patterns map[string]*regexp.Regexp
	programs map[string]int
	// called are the operations that the expression may execute, by the names under
	// which their costs are counted.
	called map[string]bool
}

// rules look for operations that CEL allows and conditions do not: those that make
// values grow, or iterate over values, without being counted.
type rules struct {
	tree  *ast.AST
	found found
	// fault is the first fault. at is the ID of its part of the expression.
	fault string
	at    int64
}

// inspect applies the rules to an expression whose types are checked.
func inspect(tree *ast.AST) (*found, error) {
	r := &rules{tree: tree, found: found{
		maps: map[int64]bool{}, patterns: map[string]*regexp.Regexp{}, programs: map[string]int{}, called: map[string]bool{},
	}}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(r.inspect))
	if r.fault != "" {
		return nil, faultAt(tree.SourceInfo().GetStartLocation(r.at), r.fault)
	}
	return &r.found, nil
}

func (r *rules) refuse(e ast.Expr, format string, args ...any) {
	if r.fault == "" {
		r.fault, r.at = fmt.Sprintf(format, args...), e.ID()
	}
}

func (r *rules) typeOf(e ast.Expr) *types.Type { return r.tree.GetType(e.ID()) }

func (r *rules) isDyn(e ast.Expr) bool { return r.typeOf(e).Kind() == types.DynKind }

// hasDyn reports whether values of type t may be an int or a string, or contain
// such values.
func hasDyn(t *types.Type) bool {
	return t.Kind() == types.DynKind || slices.ContainsFunc(t.Parameters(), hasDyn)
}

func (r *rules) inspect(e ast.Expr) {
	switch e.Kind() {
	case ast.MapKind:
		r.refuse(e, "a map cannot be written in a condition; use == and ||, or the operator in with a list")
	case ast.StructKind:
		r.refuse(e, "an object cannot be made in a condition")
	case ast.ListKind:
		r.allOfType(e, r.typeOf(e).Parameters()[0], e.AsList().Elements())
	case ast.SelectKind:
		if r.isDyn(e.AsSelect().Operand()) {
			r.refuse(e, "an int or a string has no field %s", e.AsSelect().FieldName())
		}
	case ast.ComprehensionKind:
		r.inspectRange(e.AsComprehension().IterRange())
	case ast.CallKind:
		r.inspectCall(e)
	}
}

// allOfType refuses parts of different types if one of them may be an int or a
// string: otherwise a value of another type could be used as if it were one.
func (r *rules) allOfType(e ast.Expr, t *types.Type, parts []ast.Expr) {
	if !hasDyn(t) {
		return
	}
	for _, part := range parts {
		if !r.typeOf(part).IsExactType(t) {
			r.refuse(e, "values of different types; convert ports by number or name with string(...)")
		}
	}
}

func (r *rules) inspectRange(e ast.Expr) {
	switch r.typeOf(e).Kind() {
	case types.ListKind:
	case types.MapKind:
		if e.Kind() != ast.SelectKind && e.Kind() != ast.IdentKind {
			r.refuse(e, "only a map of the pod itself can be gone through, such as object.metadata.labels")
		}
		r.found.maps[e.ID()] = true
		r.found.called[overloadKeys] = true
	default:
		r.refuse(e, "only lists and maps can be gone through")
	}
}

func (r *rules) inspectCall(e ast.Expr) {
	call := e.AsCall()
	for _, overload := range r.tree.GetOverloadIDs(e.ID()) {
		r.found.called[overload] = true
	}
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	switch call.FunctionName() {
	case operators.Equals, operators.NotEquals:
		r.inspectComparison(e, args[0], args[1])
		return
	case operators.In:
		r.inspectSearch(e, args[0], args[1])
		return
	case operators.Conditional:
		r.noDyn(e, args[:1])
		r.allOfType(e, r.typeOf(e), args[1:])
		return
	case overloads.TypeConvertInt, overloads.TypeConvertString:
		return
	case operators.Add:
		r.inspectSum(e, args[0])
	case overloads.Matches:
		r.inspectPattern(args[1])
	}
	r.noDyn(e, args)
}

func (r *rules) noDyn(e ast.Expr, args []ast.Expr) {
	if slices.ContainsFunc(args, r.isDyn) {
		r.refuse(e, "an int or a string cannot be used here; convert it with int(...) or string(...)")
	}
}

// isSimple reports whether values of type t have no parts.
func isSimple(t *types.Type) bool {
	switch t.Kind() {
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.StringKind, types.BytesKind,
		types.TimestampKind, types.DurationKind, types.DynKind:
		return true
	default:
		return t.IsExactType(quantityType)
	}
}

func (r *rules) inspectComparison(e, left, right ast.Expr) {
	a, b := r.typeOf(left), r.typeOf(right)
	isNull := func(t *types.Type) bool { return t.Kind() == types.NullTypeKind }
	switch {
	case isNull(a) && b.Kind() == types.StructKind, isNull(b) && a.Kind() == types.StructKind:
	case isNull(a) || isNull(b):
		r.refuse(e, "only objects can be null; use has(...) to tell whether a field is set")
	case !isSimple(a) || !isSimple(b):
		r.refuse(e, "objects, lists and maps cannot be compared; compare their fields or elements")
	}
}

func (r *rules) inspectSearch(e, value, in ast.Expr) {
	if r.typeOf(in).Kind() == types.DynKind {
		r.refuse(e, "the right side of in must be a list or a map")
		return
	}
	if r.typeOf(in).Kind() == types.MapKind {
		r.noDyn(e, []ast.Expr{value})
	}
	for _, t := range []*types.Type{r.typeOf(value), r.typeOf(in).Parameters()[0]} {
		if !isSimple(t) {
			r.refuse(e, "in looks for simple values only, not for objects, lists and maps; use exists")
		}
	}
}

// inspectSum refuses sums of lists, except those that macros make to add one
// element.
func (r *rules) inspectSum(e, left ast.Expr) {
	isResult := left.Kind() == ast.IdentKind && left.AsIdent() == parser.HiddenAccumulatorName
	if r.typeOf(e).Kind() == types.ListKind && !isResult {
		r.refuse(e, "lists cannot be added; look at each of them")
	}
}

func (r *rules) inspectPattern(e ast.Expr) {
	text, ok := "", false
	if e.Kind() == ast.LiteralKind {
		text, ok = e.AsLiteral().Value().(string)
	}
	if !ok {
		r.refuse(e, "a regular expression must be written as a text, not computed")
		return
	}
	if len(text) > maxPattern {
		r.refuse(e, "the regular expression is longer than %d bytes", maxPattern)
		return
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		r.refuse(e, "%v", err)
		return
	}
	size, err := types.RegexProgramSize(text)
	if err != nil || size > maxProgram {
		r.refuse(e, "the regular expression is too large: %d steps where %d are allowed; repeat less", size, maxProgram)
		return
	}
	r.found.patterns[text], r.found.programs[text] = pattern, size
}
