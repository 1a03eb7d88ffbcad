package mutate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// equal reports whether two values are equal as defined by RFC 6902: numbers by
// value, objects in any order of their keys.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(string(a), string(b)))
	default:
		return a == b
	}
}

func sameNumber(a, b string) bool {
	x, okX := parseDecimal(a)
	y, okY := parseDecimal(b)
	return okX && okY && x == y
}

// decimal is a number: digits without leading and trailing zeros, times a power of
// ten. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal reads a JSON number. ok is false if its exponent is too large for an
// int32.
func parseDecimal(text string) (d decimal, ok bool) {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := text, "0"
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa, exponent = text[:at], text[at+1:]
	}
	power, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil {
		return decimal{}, false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return decimal{}, true
	}
	return decimal{negative, trimmed, int(power) - len(fraction) + len(digits) - len(trimmed)}, true
}
