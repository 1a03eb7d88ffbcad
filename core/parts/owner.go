package parts

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
)

// Layout returns the layout of the pods' directories.
func Layout(cfg *config.Config) pod.Layout {
	return pod.Layout{PodRoot: cfg.Paths.PodRoot, LogRoot: cfg.Paths.LogRoot}
}

// OwnerOf returns a function that returns the tenant of the pods in a namespace.
// It is empty if they are the operator's.
func OwnerOf(tenants []config.Tenant) func(namespace string) string {
	return func(namespace string) string {
		for i := range tenants {
			if slices.ContainsFunc(tenants[i].Namespaces, func(pattern string) bool { return pod.MatchNamespace(pattern, namespace) }) {
				return tenants[i].Name
			}
		}
		return ""
	}
}

// Jitter extends a delay by up to half of it, so that tasks that started together do not repeat
// together.
func Jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Float64()*0.5*float64(d))
}
