package main

import (
	"slices"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// defaultNamespace is the namespace of a pod that names none.
const defaultNamespace = "default"

type policy struct {
	// usual is the profile of all other namespaces.
	usual      *profile
	namespaces map[string]*profile
	exempt     []string
	// report is reset for each pod.
	report report
}

func (p *policy) judge() admit.Verdict {
	if class := runtimeClass.String(); slices.Contains(p.exempt, class) {
		admit.Explain(sdk.Concat(`exempt: the runtime class is "`, class, `"`))
		return admit.Allow()
	}
	of := p.profile(namespace.String())
	r := &p.report
	*r = report{profile: of}
	for _, c := range of.checks {
		r.begin(c)
		c.look(r)
		r.end()
	}
	if r.text.Len() == 0 {
		admit.Explain(of.kept)
		return admit.Allow()
	}
	message := sdk.Concat(of.violated, r.text.String())
	admit.Explain(message)
	admit.Annotate(violations, r.ids.String())
	return admit.Deny(of.code, message)
}

// violations is the key of the annotation that lists the violated checks.
const violations = "violated-checks"

func (p *policy) profile(namespace string) *profile {
	if namespace == "" {
		namespace = defaultNamespace
	}
	if of := p.namespaces[namespace]; of != nil {
		return of
	}
	return p.usual
}
