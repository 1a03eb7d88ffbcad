package shutdown

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// DropIn is the default path of the file that raises logind's limit for delays.
const DropIn = "/etc/systemd/logind.conf.d/99-wardlet.conf"

// raiseDelay raises logind's limit for delays to the sum of all periods if it is lower. Without a
// sufficient limit a shutdown waits for less time than configured, so a failure is logged only.
func (m *Manager) raiseDelay(ctx context.Context, bus Logind) {
	need := total(m.cfg.Periods)
	limit, err := bus.InhibitDelay(ctx)
	if err == nil && limit < need {
		limit, err = m.writeLimit(ctx, bus, need)
	}
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil && m.limited.Due("", err.Error(), m.cfg.Now()):
		m.cfg.Log.Warn("the limit of systemd-logind for delays of a shutdown is not raised; set InhibitDelayMaxSec in [Login] of its configuration", "needed", need, "err", err)
	case err == nil && limit < need && m.limited.Due("", "limit", m.cfg.Now()):
		m.cfg.Log.Warn("systemd-logind delays a shutdown for less time than configured; look for InhibitDelayMaxSec in a file of its configuration that comes after the agent's",
			"limit", limit, "needed", need, "file", m.cfg.DropIn)
	}
}

// maxReloads is the number of checks whether a reload has had an effect.
const maxReloads = 5

// writeLimit writes the file with the limit, makes logind read it, and returns logind's limit after
// that.
func (m *Manager) writeLimit(ctx context.Context, bus Logind, need time.Duration) (limit time.Duration, err error) {
	if err := os.MkdirAll(filepath.Dir(m.cfg.DropIn), 0o755); err != nil {
		return 0, err
	}
	text := fmt.Sprintf("# Made by the Wardlet agent for the shutdown periods in [node] of agent.toml.\n[Login]\nInhibitDelayMaxSec=%d\n", int64(need/time.Second))
	if err := os.WriteFile(m.cfg.DropIn, []byte(text), 0o644); err != nil {
		return 0, err
	}
	if err := bus.Reload(ctx); err != nil {
		return 0, err
	}
	for i := range maxReloads {
		limit, err = bus.InhibitDelay(ctx)
		if err != nil || limit >= need {
			break
		}
		select {
		case <-time.After(m.reloads.Delay(i)):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return limit, err
}
