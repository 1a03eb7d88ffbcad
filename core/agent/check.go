package agent

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/config"
)

// Level says how a Finding counts.
type Level string

// The levels. Only LevelFail is an error: something that must be mended before
// the agent does what its configuration says.
const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warn"
	LevelFail Level = "fail"
)

// Finding is what Check says about one thing.
type Finding struct {
	Level Level
	// Subject is what was looked at, Message what was found: one line, and
	// further ones where there are several faults.
	Subject, Message string
}

// KubeletWarning is for a runtime on which runtime.ForeignKubelet is true.
const KubeletWarning = "pods of a kubelet are present; a kubelet ends runtime pods it does not know, ours among them"

// Check looks at all an agent of this configuration would stand on: its state,
// policies, runtime and sources. It starts nothing, changes nothing and takes
// no lock, so that an agent that runs is not disturbed. version is that of this
// program, empty for a build that is no release.
func Check(ctx context.Context, cfg *config.Config, version string) []Finding {
	id, findings := checkState(cfg)
	findings = append(findings, checkPolicies(ctx, cfg, id.node)...)
	findings = append(findings, checkRuntime(ctx, cfg, id.installation)...)
	for i := range cfg.Sources {
		findings = append(findings, checkSource(ctx, cfg, &cfg.Sources[i], id.node))
	}
	return append(findings, checkRunning(ctx, cfg.Paths.Socket, version))
}

func count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
