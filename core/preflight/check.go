package preflight

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/config"
)

// Level is the severity of a Finding.
type Level string

// The levels. Only LevelFail is an error: the agent cannot do what its configuration says until the
// fault is repaired.
const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warn"
	LevelFail Level = "fail"
)

// Finding is the result of Check for one subject.
type Finding struct {
	Level Level
	// Subject is the part that was checked. Message is the result: one line, and more if there are
	// several faults.
	Subject, Message string
}

// Check checks everything that an agent with this configuration needs: its state, policies,
// runtime, credentials, systemd-logind, the files of its own API, the directory of objects and sources. It calls
// found with each finding at once. It starts nothing, changes nothing and takes no lock, so that a
// running agent is not affected.
func Check(ctx context.Context, cfg *config.Config, opts CheckOptions, found func(Finding)) {
	tell := func(findings []Finding) {
		for _, f := range findings {
			found(f)
		}
	}
	runs := answers(cfg.Paths.Socket)
	id, findings := checkState(cfg, runs)
	tell(findings)
	timeout := opts.timeout()
	tell(opts.await("the directories", timeout, func() []Finding {
		return append(checkDirectories(cfg, runs), checkAccess(cfg)...)
	}))
	tell(opts.await("the policies", policyPatience, func() []Finding {
		return checkPolicies(ctx, cfg, id.node)
	}))
	tell(opts.await("the runtime at "+cfg.Runtime.Endpoint, timeout, func() []Finding {
		return checkRuntime(ctx, cfg, id, timeout)
	}))
	tell(opts.await("the credentials of registries", timeout, func() []Finding { return checkCredentials(cfg) }))
	tell(checkAddress(cfg))
	tell(opts.await("systemd-logind", timeout, func() []Finding { return checkShutdown(ctx, cfg, "", timeout) }))
	tell(opts.await("the files of the node's API", timeout, func() []Finding {
		return checkNodeAPI(cfg, time.Now())
	}))
	tell(opts.await("the directory of objects", timeout, func() []Finding { return checkObjects(ctx, cfg, timeout) }))
	for i := range cfg.Sources {
		s := &cfg.Sources[i]
		tell(opts.await("source "+s.Name, sourceTimeout(s, timeout), func() []Finding {
			return []Finding{checkSource(ctx, cfg, s, id.node, timeout)}
		}))
	}
	tell(opts.await("the agent at "+cfg.Paths.Socket, timeout, func() []Finding {
		return []Finding{checkRunning(ctx, cfg.Paths.Socket, opts.Version, timeout)}
	}))
}

func count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
