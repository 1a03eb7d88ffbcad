package manifest

import v1 "k8s.io/api/core/v1"

// tolerateAll lets a pod stay for as long as it wants, whatever would end it: a
// node that has lost its cluster must not reject its own pods. A toleration of
// the same with a limit gives way to it.
func tolerateAll(s *v1.PodSpec) {
	all := v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
	said := false
	for i := range s.Tolerations {
		if all.MatchToleration(&s.Tolerations[i]) {
			s.Tolerations[i], said = all, true
		}
	}
	if !said {
		s.Tolerations = append(s.Tolerations, all)
	}
}
