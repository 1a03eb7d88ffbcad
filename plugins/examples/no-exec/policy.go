package main

import (
	"errors"
	"slices"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/connect"
	"github.com/wardlet/wardlet/plugins/sdk/glob"
)

type policy struct {
	// kinds are the forbidden kinds of connections. Nothing is forbidden in namespaces, nor
	// to users.
	kinds             []string
	namespaces, users []string
}

func newPolicy(kinds, namespaces, users []string) (*policy, error) {
	if len(kinds) == 0 {
		return nil, errors.New(`settings.kinds is empty, so nothing would be forbidden: list "exec", "attach" or "portforward", or set mode = "off"`)
	}
	for _, k := range kinds {
		if k != connect.Exec && k != connect.Attach && k != connect.PortForward {
			return nil, errors.New(`settings.kinds: want "exec", "attach" or "portforward", not "` + k + `"`)
		}
	}
	for _, list := range [][]string{namespaces, users} {
		if slices.Contains(list, "") {
			return nil, errors.New(`settings: an empty pattern matches nothing: leave it out, or write "*" for all`)
		}
	}
	return &policy{kinds: kinds, namespaces: namespaces, users: users}, nil
}

func (p *policy) judge() connect.Verdict {
	what := kind.String()
	if !slices.Contains(p.kinds, what) {
		return connect.Abstain()
	}
	in, by := namespace.String(), user.String()
	switch {
	case matches(p.namespaces, in):
		connect.Explain(sdk.Concat("namespace ", in, " is listed"))
		return connect.Allow()
	case source.String() == connect.NodeAPI && matches(p.users, by):
		connect.Explain(sdk.Concat("user ", by, " is listed"))
		return connect.Allow()
	}
	return connect.Deny("NoExec", sdk.Concat("this node forbids ", what, " in namespace ", in))
}

func matches(patterns []string, text string) bool {
	for _, pattern := range patterns {
		if glob.Match(pattern, text) {
			return true
		}
	}
	return false
}
