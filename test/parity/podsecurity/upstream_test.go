package podsecurity

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// named has upstream's checks, changed to return their name as the reason.
var named = sync.OnceValues(func() (policy.Evaluator, error) {
	checks := policy.DefaultChecks()
	for i := range checks {
		for j := range checks[i].Versions {
			id, versioned := string(checks[i].ID), &checks[i].Versions[j]
			look := versioned.CheckPod
			versioned.CheckPod = func(metadata *metav1.ObjectMeta, spec *v1.PodSpec) policy.CheckResult {
				result := look(metadata, spec)
				result.ForbiddenReason = id
				return result
			}
		}
	}
	return policy.NewEvaluator(checks, nil)
})

// plain has upstream's checks unchanged.
var plain = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// theirs returns the checks that upstream reports as violated by a pod, as one text.
func theirs(p *v1.Pod, level, version string) (string, error) {
	evaluator, err := named()
	if err != nil {
		return "", err
	}
	untouched, err := plain()
	if err != nil {
		return "", err
	}
	lv, err := levelVersion(level, version)
	if err != nil {
		return "", err
	}
	var violated []string
	for _, result := range evaluator.EvaluatePod(lv, &p.ObjectMeta, &p.Spec) {
		if !result.Allowed {
			violated = append(violated, result.ForbiddenReason)
		}
	}
	if all := policy.AggregateCheckResults(untouched.EvaluatePod(lv, &p.ObjectMeta, &p.Spec)); all.Allowed != (len(violated) == 0) {
		return "", fmt.Errorf("upstream allows and violates %s", violated)
	}
	return strings.Join(violated, ","), nil
}

func levelVersion(level, version string) (lv api.LevelVersion, err error) {
	if lv.Level, err = api.ParseLevel(level); err == nil {
		lv.Version, err = api.ParseVersion(version)
	}
	return lv, err
}

// agree returns upstream's answer if the plugin's is the same.
func agree(t *testing.T, p *v1.Pod, level, version string) (violated string, err error) {
	t.Helper()
	want, err := theirs(p, level, version)
	if err != nil {
		return "", err
	}
	got, err := ours(t.Context(), p, level, version)
	if err == nil && got != want {
		err = fmt.Errorf("the plugin finds %q violated, upstream %q", got, want)
	}
	return want, err
}
