package preflight

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/shutdown"
)

// checkShutdown checks whether systemd-logind can delay a shutdown for the pods, if agent.toml has a
// time for that. bus is the address of D-Bus, empty for the system's.
func checkShutdown(ctx context.Context, cfg *config.Config, bus string, timeout time.Duration) []Finding {
	var need time.Duration
	for _, p := range cfg.Node.ShutdownPeriods() {
		need += p.Period
	}
	if need == 0 {
		return nil
	}
	const subject = "shutdown of the machine"
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	limit, err := inhibitDelay(ctx, bus)
	switch {
	case err != nil:
		return []Finding{{LevelWarn, subject, "it does not wait for pods: " + err.Error()}}
	case limit < need:
		return []Finding{{LevelOK, subject, fmt.Sprintf("it waits up to %s for pods; systemd-logind allows %s now, and the agent will raise that in %s", need, limit, shutdown.DropIn)}}
	}
	return []Finding{{LevelOK, subject, fmt.Sprintf("it waits up to %s for pods", need)}}
}

// inhibitDelay returns the longest time for which logind delays a shutdown.
func inhibitDelay(ctx context.Context, address string) (time.Duration, error) {
	bus, err := shutdown.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer bus.Close()
	return bus.InhibitDelay(ctx)
}
