package condition

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
)

// language is the CEL environment of conditions.
type language struct {
	environment *cel.Env
	vocabulary  *vocabulary
	// names are the names of variables and functions.
	names []string
	// compiling is held while an expression is compiled, because the vocabulary
	// then records unknown fields.
	compiling sync.Mutex
}

// theLanguage makes the language when the first condition is compiled, so that an
// agent without conditions does not need it.
var theLanguage = sync.OnceValues(newLanguage)

// standard are the functions of CEL that conditions may use. A list names the
// variants that are included; nil includes all. No variant reads a database of time
// zones.
var standard = map[string][]string{
	operators.LogicalAnd: nil, operators.LogicalOr: nil, operators.LogicalNot: nil, operators.Conditional: nil,
	operators.NotStrictlyFalse: nil, operators.Equals: nil, operators.NotEquals: nil,
	operators.Less: nil, operators.LessEquals: nil, operators.Greater: nil, operators.GreaterEquals: nil,
	operators.Add: nil, operators.Subtract: nil, operators.Multiply: nil, operators.Divide: nil,
	operators.Modulo: nil, operators.Negate: nil, operators.Index: nil, operators.In: nil,
	overloads.Size: nil, overloads.Contains: nil, overloads.StartsWith: nil, overloads.EndsWith: nil, overloads.Matches: nil,
	overloads.TypeConvertInt:       {overloads.IntToInt, overloads.StringToInt, overloads.TimestampToInt, overloads.DurationToInt},
	overloads.TypeConvertString:    {overloads.StringToString, overloads.BoolToString, overloads.IntToString},
	overloads.TypeConvertDuration:  {overloads.DurationToDuration, overloads.StringToDuration},
	overloads.TypeConvertTimestamp: {overloads.TimestampToTimestamp, overloads.StringToTimestamp},
	overloads.TimeGetFullYear:      {overloads.TimestampToYear},
	overloads.TimeGetMonth:         {overloads.TimestampToMonth},
	overloads.TimeGetDayOfYear:     {overloads.TimestampToDayOfYear},
	overloads.TimeGetDate:          {overloads.TimestampToDayOfMonthOneBased},
	overloads.TimeGetDayOfMonth:    {overloads.TimestampToDayOfMonthZeroBased},
	overloads.TimeGetDayOfWeek:     {overloads.TimestampToDayOfWeek},
	overloads.TimeGetHours:         {overloads.TimestampToHours, overloads.DurationToHours},
	overloads.TimeGetMinutes:       {overloads.TimestampToMinutes, overloads.DurationToMinutes},
	overloads.TimeGetSeconds:       {overloads.TimestampToSeconds, overloads.DurationToSeconds},
	overloads.TimeGetMilliseconds:  {overloads.TimestampToMilliseconds, overloads.DurationToMilliseconds},
}

// macros are the macros of CEL that conditions may use.
var macros = []string{"has", "all", "exists", "exists_one", "map", "filter"}

func newLanguage() (*language, error) {
	v, err := newVocabulary()
	if err != nil {
		return nil, fmt.Errorf("the types that conditions look at: %w", err)
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(v), cel.CustomTypeAdapter(v),
		cel.StdLib(cel.StdLibSubset(subset())),
		cel.ParserRecursionLimit(maxDepth),
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		s, err := v.structure(variables[name])
		if err != nil {
			return nil, err
		}
		options = append(options, cel.Variable(name, s.celType))
	}
	containers, err := v.containersOption()
	if err != nil {
		return nil, err
	}
	options = append(append(options, containers), quantityOptions()...)
	environment, err := cel.NewCustomEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("the language of conditions: %w", err)
	}
	names := append(slices.Collect(maps.Keys(variables)), macros...)
	names = append(names, functionContainers, functionQuantity)
	for name := range standard {
		if name[0] >= 'a' && name[0] <= 'z' {
			names = append(names, name)
		}
	}
	return &language{environment: environment, vocabulary: v, names: names}, nil
}

func subset() *env.LibrarySubset {
	s := env.NewLibrarySubset().AddIncludedMacros(macros...)
	for name, variants := range standard {
		some := make([]*env.Overload, 0, len(variants))
		for _, id := range variants {
			some = append(some, &env.Overload{ID: id})
		}
		s.AddIncludedFunctions(env.NewFunction(name, some...))
	}
	return s
}
