package wasm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// called are the exports that the host calls, with their result types.
var called = map[string][]api.ValueType{
	"_initialize":               nil,
	"wardlet_validate_settings": {i32},
	"wardlet_init":              {i32},
	"wardlet_input":             {i32},
	"wardlet_admit":             {i32},
	"wardlet_merge":             {i32},
	"wardlet_filter":            {i32},
	"wardlet_connect":           {i32},
}

// typeReasons returns a reason for each function whose type is not that of the ABI.
// Imports that the host does not offer are ignored.
func typeReasons(m *module.Module) []reason {
	var found []reason
	functions := uint32(0)
	for i := range m.Imports {
		in := &m.Imports[i]
		if in.Kind != module.KindFunction {
			continue
		}
		if want, ok := offered(in.Module, in.Name); ok {
			if wrong := wrongType(m, "imports "+in.Name+" of "+in.Module, functions, want.params, want.results); wrong != "" {
				found = append(found, reasonAt(AbiMismatch, module.SectionImport, i, in.Offset, "%s", wrong))
			}
		}
		functions++
	}
	for i := range m.Exports {
		e := &m.Exports[i]
		results, ok := called[e.Name]
		if !ok && !strings.HasPrefix(e.Name, markerPrefix+abiMajor+"_") {
			continue
		}
		wrong := "the module exports " + shown(e.Name) + ", but not as a function"
		if e.Kind == module.KindFunction {
			wrong = wrongType(m, "exports "+shown(e.Name), e.Index, nil, results)
		}
		if wrong != "" {
			found = append(found, reasonAt(AbiMismatch, module.SectionExport, i, e.Offset, "%s", wrong))
		}
	}
	return found
}

// wrongType returns what is wrong with a function's type, empty if it is right.
func wrongType(m *module.Module, what string, function uint32, params, results []api.ValueType) string {
	t := m.Type(function)
	same := func(have []module.ValueType, want []api.ValueType) bool {
		return slices.EqualFunc(have, want, func(a module.ValueType, b api.ValueType) bool { return byte(a) == b })
	}
	if same(t.Params, params) && same(t.Results, results) {
		return ""
	}
	return fmt.Sprintf("the module %s as %s: its type must be %s", what, typeName(t.Params, t.Results), typeName(params, results))
}

// maxNamed is how many parameters or results of a type are listed by name.
const maxNamed = 16

func typeName[T ~byte](params, results []T) string {
	list := func(types []T) string {
		names := make([]string, 0, maxNamed+1)
		for _, t := range types[:min(len(types), maxNamed)] {
			names = append(names, module.ValueType(t).String())
		}
		if more := len(types) - maxNamed; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(params) + " -> " + list(results)
}
