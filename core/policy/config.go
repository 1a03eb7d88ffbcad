package policy

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// Config is what a Plane needs.
type Config struct {
	// Dir is the directory of the policies, absolute. Links in it are
	// followed.
	Dir string
	// AllowUnpinned lets documents leave out the digest of their module.
	AllowUnpinned bool
	// DefaultVerdict counts where no policy has an opinion: Allow, Hold or
	// Deny; empty for Allow.
	DefaultVerdict pod.Answer
	// Kinds gives the kind of each source by its name: file, http or api. A
	// source that is not in it is of any kind.
	Kinds map[string]string
	// Node is this node's name. It is never empty.
	Node string
	// Loader makes plugins; see Sandbox.
	Loader Loader
	Logger *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
	// Evaluators is how many questions are judged at once; 0 for one less
	// than the processors Go may use, at least 1.
	Evaluators int
}

func (c *Config) evaluators() int {
	if c.Evaluators > 0 {
		return c.Evaluators
	}
	return max(1, runtime.GOMAXPROCS(0)-1)
}
