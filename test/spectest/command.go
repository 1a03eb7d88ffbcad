package spectest

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// notRun is the canonical text of a module in the text format.
const notRun = "not run: text format"

// runner is the state of a running script.
type runner struct {
	config    *Config
	suite     fs.FS
	file      string
	runtime   wazero.Runtime
	instances []*instance
	// named are the modules that have names in the script. last is nil if the last module was
	// refused.
	named  map[string]*instance
	last   *instance
	result Result
}

// instance is an instantiated module.
type instance struct {
	module api.Module
	line   int
}

// command runs one command and records its outcome. An error means that the command could not be
// run.
func (r *runner) command(ctx context.Context, all []command, at int) error {
	c := &all[at]
	o := Outcome{File: r.file, Line: c.Line, Index: at, Type: c.Type}
	if c.assertion() {
		r.result.Assertions++
	}
	switch {
	case c.Type == "register":
		o.Text = "registered"
		if m := r.runtime.Module(c.As); m == nil || r.last == nil || m != r.last.module {
			o.Text = "not registered"
		}
	case c.Action != nil:
		r.act(ctx, c, &o)
	case c.Format == "text":
		r.result.Text++
		o.Text = notRun
	default:
		as := ""
		if at+1 < len(all) && all[at+1].Type == "register" {
			as = all[at+1].As
		}
		if err := r.module(ctx, c, as, &o); err != nil {
			return fmt.Errorf("line %d: %w", c.Line, err)
		}
	}
	judge(c, &o)
	r.result.Outcomes = append(r.result.Outcomes, o)
	return nil
}

// module instantiates the command's module under the name as, for the imports of others.
func (r *runner) module(ctx context.Context, c *command, as string, o *Outcome) error {
	binary, err := fs.ReadFile(r.suite, c.Filename)
	if err != nil {
		return err
	}
	made, refused := r.load(ctx, binary, as)
	if refused != nil {
		o.refused, o.Text, o.Detail = refused.stage, refused.text(), refused.err.Error()
	} else {
		o.Text = "instantiated"
		made.line = c.Line
		r.instances = append(r.instances, made)
		r.prepare(made)
	}
	if c.Type == "module" {
		r.result.Modules++
		r.last = made
		if c.Name != "" {
			r.named[c.Name] = made
		}
	}
	return nil
}

// load transforms, compiles and instantiates a module.
func (r *runner) load(ctx context.Context, binary []byte, as string) (*instance, *refusal) {
	if r.config.Transform != nil {
		changed, err := r.config.Transform(binary)
		if err != nil {
			return nil, &refusal{stageTransform, err}
		}
		binary = changed
	}
	code, err := r.runtime.CompileModule(ctx, binary)
	if err != nil {
		return nil, &refusal{stageCompile, err}
	}
	module, err := r.runtime.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName(as).WithStartFunctions())
	if err != nil {
		return nil, instantiation(err)
	}
	return &instance{module: module}, nil
}

func (r *runner) prepare(i *instance) {
	if r.config.Prepare != nil {
		r.config.Prepare(i.module)
	}
}
