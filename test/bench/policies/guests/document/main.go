// Command document is a plugin with the benchmark's rule. It reads the whole pod as JSON.
//
// Comes in: one pod. Goes out: allow or deny. It runs on the one goroutine of
// the agent's call.
package main

import (
	"encoding/json"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/test/bench/policies/guests/rule"
)

// pod has the fields that the rule reads.
type pod struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		InitContainers      []container `json:"initContainers"`
		Containers          []container `json:"containers"`
		EphemeralContainers []container `json:"ephemeralContainers"`
	} `json:"spec"`
}

type container struct {
	Image           string `json:"image"`
	SecurityContext struct {
		Privileged               bool `json:"privileged"`
		AllowPrivilegeEscalation bool `json:"allowPrivilegeEscalation"`
		RunAsNonRoot             bool `json:"runAsNonRoot"`
	} `json:"securityContext"`
}

func init() {
	admit.Register(func() (admit.Policy, error) { return judge, nil })
}

func judge() admit.Verdict {
	var p pod
	if err := json.Unmarshal(sdk.ObjectJSON(), &p); err != nil {
		return admit.Fail("the pod cannot be read: " + err.Error())
	}
	for _, key := range [...]string{rule.Name, rule.Team} {
		if _, ok := p.Metadata.Labels[key]; !ok {
			return rule.Unlabelled()
		}
	}
	for _, list := range [...][]container{p.Spec.InitContainers, p.Spec.Containers, p.Spec.EphemeralContainers} {
		for i := range list {
			c := &list[i]
			if !rule.Image(c.Image) {
				return rule.Foreign(c.Image)
			}
			if s := &c.SecurityContext; s.Privileged || s.AllowPrivilegeEscalation || !s.RunAsNonRoot {
				return rule.Unconfined()
			}
		}
	}
	return admit.Allow()
}

func main() {}
