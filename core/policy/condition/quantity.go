package condition

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/resource"
)

// These bound the digits and the exponent of a quantity that is shown. To write out
// a larger one may take minutes.
const (
	maxQuantityBits     = 256
	maxQuantityExponent = 64
)

// canonical returns the text of a quantity. The String method of a quantity is not
// used, because it stores its result in the quantity, and pods are shared.
func canonical(q resource.Quantity) (string, error) {
	if _, short := q.AsInt64(); !short {
		exact := q // AsDec changes its receiver
		number := exact.AsDec()
		if number.UnscaledBig().BitLen() > maxQuantityBits || max(number.Scale(), -number.Scale()) > maxQuantityExponent {
			return "", errors.New("the quantity is too large or too exact; conditions read 64 digits at most")
		}
	}
	number, suffix := q.CanonicalizeBytes(make([]byte, 0, maxQuantity))
	return string(append(number, suffix...)), nil
}

// functionQuantity is the function that makes a quantity of a text, to compare it
// with others.
const functionQuantity = "quantity"

var quantityType = types.NewObjectType("quantity", traits.ComparerType)

// comparisons are the operators for quantities, in addition to == and !=.
var comparisons = map[string]string{
	"_<_":  "less_quantity",
	"_<=_": "less_equals_quantity",
	"_>_":  "greater_quantity",
	"_>=_": "greater_equals_quantity",
}

// quantityOptions declares the function and the operators.
func quantityOptions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function(functionQuantity, cel.Overload(overloadQuantity, []*cel.Type{types.StringType}, quantityType,
			cel.UnaryBinding(parseQuantity))),
	}
	for operator, overload := range comparisons {
		options = append(options, cel.Function(operator,
			cel.Overload(overload, []*cel.Type{quantityType, quantityType}, types.BoolType)))
	}
	return options
}

// amount is a quantity as a value of CEL.
type amount struct {
	unconvertible
	quantity resource.Quantity
}

func parseQuantity(v ref.Val) ref.Val {
	s, ok := v.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	q, err := readQuantity(string(s))
	if err != nil {
		return types.WrapErr(err)
	}
	return &amount{quantity: q}
}

// readQuantity parses a quantity. It refuses large exponents, for which the library
// would compute with numbers of gigabytes.
func readQuantity(s string) (resource.Quantity, error) {
	if len(s) > maxQuantity {
		return resource.Quantity{}, fmt.Errorf("%.40q is no quantity: it is longer than %d bytes", s, maxQuantity)
	}
	if at := strings.IndexAny(s, "eE"); at >= 0 && len(strings.TrimLeft(s[at+1:], "+-0")) > 2 {
		return resource.Quantity{}, fmt.Errorf("%q is no quantity: its exponent has more than two digits", s)
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("%q is no quantity; write it as 500m, 2 or 1Gi", s)
	}
	return q, nil
}

// Compare returns -1, 0 or 1.
func (a *amount) Compare(other ref.Val) ref.Val {
	b, ok := other.(*amount)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Int(a.quantity.Cmp(b.quantity))
}

// Equal reports whether both quantities are the same amount.
func (a *amount) Equal(other ref.Val) ref.Val {
	b, ok := other.(*amount)
	return types.Bool(ok && a.quantity.Cmp(b.quantity) == 0)
}

// Type returns the type of all quantities.
func (*amount) Type() ref.Type { return quantityType }

// Value returns the quantity.
func (a *amount) Value() any { return a.quantity }
