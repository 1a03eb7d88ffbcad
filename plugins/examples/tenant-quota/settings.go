package main

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/quantity"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

// The effects on a pod that would exceed a quota.
const (
	effectHold = "hold"
	effectDeny = "deny"
)

// maxName is the largest length of the name of a namespace.
const maxName = 63

// newPolicy reads the settings.
func newPolicy() (*policy, error) {
	p := &policy{}
	err := settings.Walk(func(s *settings.Setting) {
		switch s.Name {
		case "effect":
			effect := s.String()
			if effect != effectHold && effect != effectDeny {
				s.Refuse(`must be "hold" or "deny", not "` + effect + `"`)
			}
			p.deny = effect == effectDeny
		case "quota":
			s.Table(func(s *settings.Setting) { p.quotas = append(p.quotas, newQuota(s)) })
		default:
			s.Unknown("effect", "quota")
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(p.quotas) == 0:
		return nil, errors.New(`settings.quota must have at least one table, such as [settings.quota."team-*"] with pods = 10`)
	}
	p.usages = make([]usage, len(p.quotas))
	return p, nil
}

// newQuota reads the table of one quota. If the table does not list namespaces, its name is
// a namespace or a glob of namespaces.
func newQuota(table *settings.Setting) quota {
	q := quota{said: `quota "` + table.Name + `": `}
	named := false
	table.Table(func(s *settings.Setting) {
		switch s.Name {
		case "namespaces":
			q.namespaces, named = globs(s), true
			if len(q.namespaces) == 0 {
				s.Refuse("must list at least one namespace; without it the quota is for the one of its name")
			}
		case "except":
			q.except = globs(s)
		case "each":
			q.each = s.Bool()
		case resourceNames[pod]:
			n := s.Int()
			if n < 0 {
				s.Refuse("must not be negative")
			}
			q.limit[pod], q.bounds[pod] = quantity.Whole(max(n, 0)), true
		case resourceNames[cpu]:
			q.amount(cpu, s, `"4" or "500m"`)
		case resourceNames[memory]:
			q.amount(memory, s, `"8Gi" or "512Mi"`)
		default:
			s.Unknown("cpu", "memory", "pods", "namespaces", "except", "each")
		}
	})
	switch {
	case len(table.Name) > maxName:
		table.Refuse("must have a name of at most 63 characters")
	case !named && !isGlob(table.Name):
		table.Refuse("is named like no namespace: name it so, or say which with namespaces")
	case q.bounds == [resources]bool{}:
		table.Refuse("bounds nothing: set cpu, memory or pods")
	}
	if !named {
		q.namespaces = []string{table.Name}
	}
	return q
}

// amount reads the limit of a resource.
func (q *quota) amount(resource int, s *settings.Setting, such string) {
	written := s.String()
	limit, ok := quantity.Parse(written)
	if !ok {
		s.Refuse(`must be an amount such as ` + such + `, not "` + written + `"`)
	}
	q.limit[resource], q.bounds[resource] = limit, true
}

// globs reads a list of namespaces.
func globs(s *settings.Setting) []string {
	all := s.Strings()
	for _, g := range all {
		if !isGlob(g) {
			s.Refuse(`has "` + g + `", which can match no namespace: want a name such as "shop", with * for any characters`)
		}
	}
	return all
}

// isGlob reports whether the glob g can match a namespace.
func isGlob(g string) bool {
	stars := 0
	for i := range len(g) {
		switch c := g[i]; {
		case c == '*':
			stars++
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', c == '-':
		default:
			return false
		}
	}
	return g != "" && len(g)-stars <= maxName
}
