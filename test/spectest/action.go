package spectest

import (
	"context"

	"github.com/tetratelabs/wazero/api"
)

// act calls the function or reads the global that a command names.
func (r *runner) act(ctx context.Context, c *command, o *Outcome) {
	target := r.last
	if c.Action.Module != "" {
		target = r.named[c.Action.Module]
	}
	if target == nil {
		o.Text = "no instance: its module was refused or is unknown"
		return
	}
	if c.Action.Type == "get" {
		o.Text = get(target.module, c)
		return
	}
	f := target.module.ExportedFunction(c.Action.Field)
	if f == nil {
		o.Text = "no such function"
		return
	}
	var args []uint64
	for i := range c.Action.Args {
		args = append(args, c.Action.Args[i].words()...)
	}
	for _, i := range r.instances[1:] { // without the module spectest
		r.prepare(i)
	}
	results, err := f.Call(ctx, args...)
	if err != nil {
		o.Text, o.Detail = failure(err), err.Error()
		return
	}
	o.Text = showAll(f.Definition().ResultTypes(), results, c.Expected)
}

func get(m api.Module, c *command) string {
	g := m.ExportedGlobal(c.Action.Field)
	if g == nil {
		return "no such global"
	} else if g.Type() == typeV128 {
		return "v128 global: wazero's API reads only its lower half"
	}
	return showAll([]api.ValueType{g.Type()}, []uint64{g.Get()}, c.Expected)
}
