package runtime

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// environment is a container's environment in order, its values expanded by
// the variables before them, and the same as a map.
func environment(c *v1.Container) ([]*runtimeapi.KeyValue, map[string]string, error) {
	if len(c.EnvFrom) > 0 {
		return nil, nil, fmt.Errorf("container %q: envFrom is not supported; list the variables under env", c.Name)
	}
	vars := make(map[string]string, len(c.Env))
	var list []*runtimeapi.KeyValue
	for i := range c.Env {
		e := &c.Env[i]
		if e.ValueFrom != nil {
			return nil, nil, fmt.Errorf("container %q: env %q: valueFrom is not supported; give it a value", c.Name, e.Name)
		}
		value := expand(e.Value, vars)
		vars[e.Name] = value
		list = append(list, &runtimeapi.KeyValue{Key: e.Name, Value: []byte(value)})
	}
	return list, vars, nil
}

func expandAll(in []string, vars map[string]string) []string {
	var out []string
	for _, s := range in {
		out = append(out, expand(s, vars))
	}
	return out
}

// expand replaces $(NAME) by a variable's value. Unknown references stay as
// they are, $$ stands for one dollar sign, any other dollar sign for itself.
func expand(s string, vars map[string]string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		s = rest
		switch {
		case strings.HasPrefix(rest, "$"):
			out.WriteByte('$')
			s = rest[1:]
		case strings.HasPrefix(rest, "("):
			name, after, closed := strings.Cut(rest[1:], ")")
			if !closed {
				out.WriteString("$(")
				s = rest[1:]
				break
			}
			if value, ok := vars[name]; ok {
				out.WriteString(value)
			} else {
				out.WriteString("$(" + name + ")")
			}
			s = after
		default:
			out.WriteByte('$')
		}
	}
}
