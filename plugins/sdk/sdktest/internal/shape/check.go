package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check compares a value, as encoding/json decodes it with UseNumber, with its type. It
// returns the value in few Go types: nil if there is none, string (also for times and
// quantities), bool, int64, []any, and map[string]any for maps and structs, without fields
// that are null. Values of JSON types are returned unchanged. path is the path of the
// value, for errors. The error has every fault.
func Check(value any, t *Type, path string) (any, error) {
	if value == nil {
		return nil, nil // nil stands for a missing value
	}
	switch t.Kind {
	case Pointer:
		return Check(value, t.Elem, path)
	case JSON:
		return value, nil
	case Struct:
		return checkStruct(value, t, path)
	case Map:
		return checkMap(value, t, path)
	case List:
		return checkList(value, t, path)
	}
	checked, err := checkScalar(value, t.Kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return checked, nil
}

func checkStruct(value any, t *Type, path string) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: want an object, found %s", path, found(value))
	}
	checked := map[string]any{}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f, ok := t.Field(name)
		if !ok {
			faults = append(faults, fmt.Errorf("%s.%s: there is no such field", path, name))
			continue
		}
		inner, err := Check(object[name], f.Type, path+"."+name)
		faults = append(faults, err)
		if inner != nil {
			checked[name] = inner
		}
	}
	return checked, errors.Join(faults...)
}

func checkMap(value any, t *Type, path string) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: want an object, found %s", path, found(value))
	}
	checked := map[string]any{}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(object)) {
		inner, err := checkEntry(object[key], t.Elem, fmt.Sprintf("%s['%s']", path, key))
		faults = append(faults, err)
		checked[key] = inner
	}
	return checked, errors.Join(faults...)
}

func checkList(value any, t *Type, path string) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: want a list, found %s", path, found(value))
	}
	checked := make([]any, len(list))
	var faults []error
	for i := range list {
		inner, err := checkEntry(list[i], t.Elem, fmt.Sprintf("%s[%d]", path, i))
		faults = append(faults, err)
		checked[i] = inner
	}
	return checked, errors.Join(faults...)
}

// checkEntry checks an element of a list or a map.
func checkEntry(value any, t *Type, path string) (any, error) {
	if value == nil {
		return nil, fmt.Errorf("%s: null means nothing here; leave it out", path)
	}
	return Check(value, t, path)
}

func checkScalar(value any, k Kind) (any, error) {
	switch k {
	case Bool:
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, errors.New("want true or false, found " + found(value))
	case Int32:
		return checkInt(value, math.MinInt32, math.MaxInt32)
	case Int64:
		return checkInt(value, math.MinInt64, math.MaxInt64)
	case IntOrString:
		if s, ok := value.(string); ok {
			return s, nil
		}
		return checkInt(value, math.MinInt32, math.MaxInt32)
	case Quantity:
		return checkQuantity(value)
	}
	s, ok := value.(string)
	if !ok {
		return nil, errors.New("want a string, found " + found(value))
	}
	if k != Time {
		return s, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return nil, fmt.Errorf(`want a time such as "2026-01-02T15:04:05Z", found %q`, s)
	}
	if t.IsZero() {
		return nil, errors.New("the zero time means none; leave it out")
	}
	return t.UTC().Format(time.RFC3339), nil
}

func checkInt(value any, least, most int64) (any, error) {
	number, ok := value.(json.Number)
	if !ok {
		return nil, errors.New("want an integer, found " + found(value))
	}
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || n < least || n > most {
		return nil, fmt.Errorf("want an integer from %d to %d, found %s", least, most, number)
	}
	return n, nil
}

// canonicalQuantity matches the quantities that the agent hands over unchanged, unless the
// number has a factor that a larger suffix could express.
var canonicalQuantity = regexp.MustCompile(`^(-?[1-9][0-9]{0,14})([numkMGTPE]|[KMGTPE]i)?$`)

// suffixes are the factors of the suffixes of quantities. maxQuantity is the largest
// quantity.
var suffixes = map[string]float64{
	"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

const maxQuantity = 1 << 62

func checkQuantity(value any) (any, error) {
	var text string
	switch value := value.(type) {
	case string:
		text = value
	case json.Number:
		text = string(value)
	default:
		return nil, errors.New("want a quantity, found " + found(value))
	}
	if parts := canonicalQuantity.FindStringSubmatch(text); parts != nil {
		n, err := strconv.ParseInt(parts[1], 10, 64)
		step := int64(1000)
		if strings.HasSuffix(text, "i") {
			step = 1024
		}
		if err == nil && n%step != 0 && math.Abs(float64(n))*suffixes[parts[2]] < maxQuantity {
			return text, nil
		}
	}
	if text == "0" {
		return text, nil
	}
	return nil, fmt.Errorf(`quantity %q is not in the form in which policies see it: write "500m" for "0.5", "1Gi" for "1024Mi", "2k" for "2000"`, text)
}

// found returns the name of the type of a value, for errors.
func found(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(value)
	case bool:
		return strconv.FormatBool(value)
	case json.Number:
		return string(value)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", value)
}
