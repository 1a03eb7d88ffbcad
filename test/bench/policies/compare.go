package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/wardlet/wardlet/test/bench/policies/question"
	"github.com/wardlet/wardlet/test/bench/policies/rivals"
)

// Names of the rivals' rounds.
const (
	cel          = "cel-go"
	celConverted = "cel-go with its conversion"
	rego         = "OPA"
	regoWasm     = "OPA in wasm"
	native       = "native Go"
)

var errDenied = errors.New("the pod is not allowed")

// rivalSides returns the engines that ours is compared with. stop releases their resources.
func rivalSides(ctx context.Context) (sides []side, stop func() error, err error) {
	p, err := question.Pod()
	if err != nil {
		return nil, nil, err
	}
	object, err := rivals.Unstructured(p)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := rivals.Parsed(object)
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	c, err := rivals.NewCEL()
	if err != nil {
		return nil, nil, err
	}
	o, err := rivals.NewRego(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := rivals.NewRegoWasm(ctx)
	if err != nil {
		return nil, nil, err
	}
	return []side{
		{name: cel, decide: func(context.Context) error { return want(c.Allowed(object)) }},
		{name: celConverted, decide: func(context.Context) error {
			object, err := rivals.Unstructured(p)
			if err != nil {
				return err
			}
			return want(c.Allowed(object))
		}},
		{name: rego, decide: func(ctx context.Context) error { return want(o.Allowed(ctx, parsed)) }},
		{name: regoWasm, decide: func(ctx context.Context) error { return want(w.Allowed(ctx, text)) }},
		{name: native, decide: func(context.Context) error { return want(rivals.Native(p), nil) }},
	}, func() error { return w.Close(ctx) }, nil
}

func want(allowed bool, err error) error {
	if err == nil && !allowed {
		return errDenied
	}
	return err
}
