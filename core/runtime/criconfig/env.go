package criconfig

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// maxArguments is the maximum size in bytes of the environment, command and args of a container
// together, with references to variables expanded. Kernels allow about twice as much.
const maxArguments = 1 << 20

// maxString is the maximum size in bytes of one of them: MAX_ARG_STRLEN of the kernel without the zero
// at the end. A variable counts with its name.
var maxString = 32*os.Getpagesize() - 1

// checkString refuses a string that the kernel passes to no program.
func checkString(length int) error {
	if length > maxString {
		return fmt.Errorf("it has %d bytes, and the kernel gives a program no variable or argument of more than %d: mount a file instead", length, maxString)
	}
	return nil
}

var errArgumentsTooLong = fmt.Errorf("env, command and args of a container are longer than %d bytes with what $(NAME) stands for; "+
	"refer to shorter variables, or to fewer", maxArguments)

// arguments are the expanded environment, command and arguments of a container.
type arguments struct {
	env           []*runtimeapi.KeyValue
	command, args []string
}

// variable is a variable of a container with its final value.
type variable struct{ name, value string }

// variables are the sources of a container's variables other than literal values in its spec.
type variables struct {
	// services are the variables of services. All other variables replace those of the same name.
	services []variable
	// of returns the variables of an object.
	of func(*v1.EnvFromSource) ([]variable, error)
	// value returns the value of a variable from another source. ok is false if the value is
	// missing and may be missing.
	value func(*v1.EnvVarSource) (value string, ok bool, err error)
}

// expandArguments expands a container's environment in order, each value with the variables before
// it, and its command and args with all variables.
func (b *Builder) expandArguments(ctx context.Context, run *pod.ContainerRun) (*arguments, error) {
	from, err := b.variables(ctx, run)
	if err != nil {
		return nil, err
	}
	return expandArguments(run.Container, from)
}

// variables returns the sources of the variables of a container.
func (b *Builder) variables(ctx context.Context, run *pod.ContainerRun) (*variables, error) {
	services, err := b.serviceVariables(ctx, run.Pod)
	if err != nil {
		return nil, err
	}
	return &variables{
		services: services,
		of:       func(from *v1.EnvFromSource) ([]variable, error) { return b.objectVariables(ctx, run.Pod, from) },
		value:    func(from *v1.EnvVarSource) (string, bool, error) { return b.variableValue(ctx, run, from) },
	}, nil
}

func expandArguments(c *v1.Container, from *variables) (*arguments, error) {
	e := &expander{vars: make(map[string]string, len(c.Env)), remaining: maxArguments, from: from}
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

// ExpandPath replaces $(NAME) in a path by the variables of the container. A missing or empty
// variable is an error, because the result would be a different path.
func (b *Builder) ExpandPath(ctx context.Context, run *pod.ContainerRun, path string) (string, error) {
	from, err := b.variables(ctx, run)
	if err != nil {
		return "", err
	}
	e := &expander{vars: map[string]string{}, remaining: maxArguments, from: from}
	if _, err := e.environment(run.Container); err != nil {
		return "", err
	}
	e.missing = map[string]bool{}
	expanded, err := e.expand(path)
	if err == nil && len(e.missing) > 0 {
		err = fmt.Errorf("missing value for %s", strings.Join(slices.Sorted(maps.Keys(e.missing)), ", "))
	}
	return expanded, err
}

// ExpandStatic replaces $(NAME) in a command by the variables that have literal values in env.
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

// expander replaces references to variables and limits the size of the result: a few variables that
// refer to each other can become very long.
type expander struct {
	vars map[string]string
	// remaining is how many more bytes may be built.
	remaining int
	from      *variables
	// missing collects the references to missing or empty variables, nil if they are not collected.
	missing map[string]bool
}

// environment returns the variables, each once: those of services, then those of objects, then the
// spec's own. Later ones replace earlier ones of the same name.
func (e *expander) environment(c *v1.Container) ([]*runtimeapi.KeyValue, error) {
	var list []*runtimeapi.KeyValue
	at := map[string]*runtimeapi.KeyValue{}
	set := func(name, value string) {
		e.vars[name] = value
		if at[name] == nil {
			at[name] = &runtimeapi.KeyValue{Key: name}
			list = append(list, at[name])
		}
		at[name].Value = []byte(value)
	}
	take := func(all []variable) error {
		for _, v := range all {
			if err := e.use(len(v.name) + len(v.value)); err != nil {
				return fmt.Errorf("%q: %w", v.name, err)
			}
			set(v.name, v.value)
		}
		return nil
	}
	if err := take(e.from.services); err != nil {
		return nil, fmt.Errorf("variables of services: %w", err)
	}
	for i := range c.EnvFrom {
		all, err := e.from.of(&c.EnvFrom[i])
		if err == nil {
			err = take(all)
		}
		if err != nil {
			return nil, fmt.Errorf("envFrom[%d]: %w", i, err)
		}
	}
	for i := range c.Env {
		v := &c.Env[i]
		err := e.use(len(v.Name))
		value, ok := "", false
		if err == nil {
			value, ok, err = e.value(v)
		}
		if err != nil {
			return nil, fmt.Errorf("env %q: %w", v.Name, err)
		}
		if ok {
			set(v.Name, value)
		}
	}
	for _, v := range list {
		if err := checkString(len(v.Key) + len("=") + len(v.Value)); err != nil {
			return nil, fmt.Errorf("env %q: %w", v.Key, err)
		}
	}
	return list, nil
}

// value returns the value of a variable: unexpanded if it is from another source, else the value in
// the spec, expanded. ok is false if the value is missing and may be missing.
func (e *expander) value(v *v1.EnvVar) (value string, ok bool, err error) {
	if v.ValueFrom == nil {
		value, err = e.expand(v.Value)
		return value, true, err
	}
	value, ok, err = e.from.value(v.ValueFrom)
	if err != nil {
		return "", false, err
	}
	return value, ok, e.use(len(value))
}

// expandAll expands the items of a field.
func (e *expander) expandAll(field string, in []string) ([]string, error) {
	var out []string
	for i, s := range in {
		expanded, err := e.expand(s)
		if err == nil {
			err = checkString(len(expanded))
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		out = append(out, expanded)
	}
	return out, nil
}

// expand replaces $(NAME) by a variable's value. Unknown references are not changed, $$ becomes one
// dollar sign, and any other dollar sign is kept.
func (e *expander) expand(s string) (string, error) {
	var out strings.Builder
	end := len(s) - 1 - strings.LastIndexByte(s, ')') // number of bytes after the last closing parenthesis
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

// reference returns the replacement of a dollar sign with the reference after it, and the rest of
// s. closable is true if there is a closing parenthesis somewhere.
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
	if e.missing != nil && e.vars[name] == "" {
		e.missing[name] = true
	}
	if value, ok := e.vars[name]; ok {
		return value, after
	}
	return "$(" + name + ")", after
}

// use subtracts n from the number of bytes that may still be built.
func (e *expander) use(n int) error {
	if n > e.remaining {
		return errArgumentsTooLong
	}
	e.remaining -= n
	return nil
}
