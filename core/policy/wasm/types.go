package wasm

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// called are the exports that the host calls, and what they give.
var called = map[string][]api.ValueType{
	"_initialize":   nil,
	"wardlet_init":  {i32},
	"wardlet_input": {i32},
	"wardlet_admit": {i32},
}

// verifyTypes refuses functions whose types are not those of the ABI.
func (l *layout) verifyTypes() error {
	for i, f := range l.imports {
		want, _ := offered(f.module, f.name)
		if err := l.verifyType("imports "+f.name+" of "+f.module, uint32(i), want.params, want.results); err != nil {
			return err
		}
	}
	for name, results := range called {
		if e, ok := l.exports[name]; ok {
			if e.kind != kindFunction {
				return fmt.Errorf("the module exports %s, but not as a function", name)
			}
			if err := l.verifyType("exports "+name, e.index, nil, results); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *layout) verifyType(what string, function uint32, params, results []api.ValueType) error {
	if uint64(function) >= uint64(len(l.functions)) || uint64(l.functions[function]) >= uint64(len(l.types)) {
		return fmt.Errorf("the module %s as a function it does not have", what)
	}
	t := l.types[l.functions[function]]
	if bytes.Equal(t.params, params) && bytes.Equal(t.results, results) {
		return nil
	}
	return fmt.Errorf("the module %s as %s: its type must be %s", what, typeName(t.params, t.results), typeName(params, results))
}

func typeName(params, results []api.ValueType) string {
	list := func(types []api.ValueType) string {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = api.ValueTypeName(t)
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(params) + " -> " + list(results)
}
