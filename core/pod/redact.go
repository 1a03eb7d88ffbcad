package pod

import v1 "k8s.io/api/core/v1"

// RedactedValue replaces the value of an environment variable.
const RedactedValue = "<redacted>"

// Redacted returns p without the values of environment variables, which often are secrets. It
// returns p itself if there are none, else a copy.
func Redacted(p *v1.Pod) *v1.Pod {
	if !hasValues(p) {
		return p
	}
	p = p.DeepCopy()
	for c := range Containers(p) {
		for i := range c.Env {
			if c.Env[i].Value != "" {
				c.Env[i].Value = RedactedValue
			}
		}
	}
	return p
}

func hasValues(p *v1.Pod) bool {
	for c := range Containers(p) {
		for i := range c.Env {
			if c.Env[i].Value != "" {
				return true
			}
		}
	}
	return false
}
