package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// code is the code of the policy's reason.
const code = "QuotaExceeded"

type policy struct {
	quotas []quota
	deny   bool
	// usages is an empty slice with room for the usages of one pod.
	usages []usage
}

func (p *policy) judge() admit.Verdict {
	ours := namespace.String()
	n := 0
	for i := range p.quotas {
		if q := &p.quotas[i]; q.has(ours) {
			p.usages[n].quota = q
			n++
		}
	}
	all := p.usages[:n]
	if n == 0 {
		return admit.Abstain()
	}
	if !podNamespaces.Exists() {
		return admit.Fail("the agent says nothing of the pods on the node, so nobody knows what is used")
	}
	var r reader
	asked := r.own()
	r.count(all, ours)
	if r.unread != "" {
		return admit.Fail(`a pod requests "` + r.unread + `", which is no amount`)
	}
	return p.verdict(all, &asked)
}

// verdict compares the asked amounts with what is left of each quota.
func (p *policy) verdict(all []usage, asked *amounts) admit.Verdict {
	var explanation, reason sdk.Text
	over := false
	for i := range all {
		if all[i].say(&explanation, asked, false) {
			all[i].say(&reason, asked, true)
			over = true
		}
	}
	admit.Explain(explanation.String())
	switch {
	case !over:
		return admit.Allow()
	case p.deny:
		return admit.Deny(code, reason.String())
	}
	return admit.Hold(code, reason.String())
}
