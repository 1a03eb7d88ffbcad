package criconfig

import (
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// maxArguments bounds the environment, command and args of a container together, in
// bytes, once references to variables are expanded. Kernels take about twice as much.
const maxArguments = 1 << 20

var errArgumentsTooLong = fmt.Errorf("env, command and args of a container are longer than %d bytes with what $(NAME) stands for; "+
	"refer to shorter variables, or to fewer", maxArguments)

// arguments are what a container's program is given, expanded.
type arguments struct {
	env           []*runtimeapi.KeyValue
	command, args []string
}

// expandArguments expands a container's environment in order, its values by the
// variables before them, and its command and args by all of them.
func (b *Builder) expandArguments(run *pod.ContainerRun) (*arguments, error) {
	return expandArguments(run.Container, func(from *v1.EnvVarSource) (string, error) { return b.fieldValue(run, from) })
}

func expandArguments(c *v1.Container, field func(*v1.EnvVarSource) (string, error)) (*arguments, error) {
	e := &expander{vars: make(map[string]string, len(c.Env)), remaining: maxArguments, field: field}
	env, err := e.environment(c)
	if err != nil {
		return nil, fmt.Errorf("container %q: %w", c.Name, err)
	}
	command, err := e.expandAll("command", c.Command)
	if err != nil {
		return nil, fmt.Errorf("container %q: %w", c.Name, err)
	}
	args, err := e.expandAll("args", c.Args)
	if err != nil {
		return nil, fmt.Errorf("container %q: %w", c.Name, err)
	}
	return &arguments{env: env, command: command, args: args}, nil
}

// ExpandStatic replaces $(NAME) in a command by the variables whose values env says in so many words.
func ExpandStatic(command []string, env []v1.EnvVar) []string {
	e := &expander{vars: map[string]string{}, remaining: maxArguments}
	for i := range env {
		if env[i].ValueFrom == nil {
			e.vars[env[i].Name] = env[i].Value
		}
	}
	expanded, err := e.expandAll("command", command)
	if err != nil {
		return command
	}
	return expanded
}

// expander replaces references to variables, and never builds more than it has room
// for: a few variables that refer to each other become very long.
type expander struct {
	vars map[string]string
	// remaining is how many bytes may still be built.
	remaining int
	// field returns the value of a variable that takes it from a field.
	field func(*v1.EnvVarSource) (string, error)
}

func (e *expander) environment(c *v1.Container) ([]*runtimeapi.KeyValue, error) {
	if len(c.EnvFrom) > 0 {
		return nil, errors.New("envFrom is not supported; list the variables under env")
	}
	var list []*runtimeapi.KeyValue
	for i := range c.Env {
		v := &c.Env[i]
		err := e.use(len(v.Name))
		var value string
		if err == nil {
			value, err = e.value(v)
		}
		if err != nil {
			return nil, fmt.Errorf("env %q: %w", v.Name, err)
		}
		e.vars[v.Name] = value
		list = append(list, &runtimeapi.KeyValue{Key: v.Name, Value: []byte(value)})
	}
	return list, nil
}

// value is that of a variable: a field's as it is, else what it says, expanded.
func (e *expander) value(v *v1.EnvVar) (string, error) {
	if v.ValueFrom == nil {
		return e.expand(v.Value)
	}
	value, err := e.field(v.ValueFrom)
	if err != nil {
		return "", err
	}
	return value, e.use(len(value))
}

// expandAll expands the items of a field.
func (e *expander) expandAll(field string, in []string) ([]string, error) {
	var out []string
	for i, s := range in {
		expanded, err := e.expand(s)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		out = append(out, expanded)
	}
	return out, nil
}

// expand replaces $(NAME) by a variable's value. Unknown references stay as
// they are, $$ stands for one dollar sign, any other dollar sign for itself.
func (e *expander) expand(s string) (string, error) {
	var out strings.Builder
	end := len(s) - 1 - strings.LastIndexByte(s, ')') // bytes at its end that close nothing
	for {
		before, rest, found := strings.Cut(s, "$")
		value := ""
		if found {
			value, rest = e.reference(rest, len(rest) > end)
		}
		if err := e.use(len(before) + len(value)); err != nil {
			return "", err
		}
		out.WriteString(before)
		out.WriteString(value)
		if !found {
			return out.String(), nil
		}
		s = rest
	}
}

// reference is what a dollar sign and what comes after it stand for, and the rest.
// closable: there is a closing parenthesis somewhere.
func (e *expander) reference(s string, closable bool) (value, rest string) {
	switch {
	case strings.HasPrefix(s, "$"):
		return "$", s[1:]
	case !strings.HasPrefix(s, "("):
		return "$", s
	case !closable:
		return "$(", s[1:]
	}
	name, after, _ := strings.Cut(s[1:], ")")
	if value, ok := e.vars[name]; ok {
		return value, after
	}
	return "$(" + name + ")", after
}

// use subtracts n bytes from what may still be built.
func (e *expander) use(n int) error {
	if n > e.remaining {
		return errArgumentsTooLong
	}
	e.remaining -= n
	return nil
}
