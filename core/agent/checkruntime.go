package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/runtime"
)

// runtimePatience bounds all questions of a check to the runtime together.
const runtimePatience = 5 * time.Second

// checkRuntime asks the runtime what it is, whether it is well, and whose pods
// it has.
func checkRuntime(ctx context.Context, cfg *config.Config, installation string) []Finding {
	ctx, cancel := context.WithTimeout(ctx, runtimePatience)
	defer cancel()
	subject := "runtime " + cfg.Runtime.Endpoint
	fail := func(err error) []Finding { return []Finding{{LevelFail, subject, err.Error()}} }
	client, err := runtime.Dial(cfg.Runtime.Endpoint, cfg.Runtime.RequestTimeout)
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	version, err := client.Version(ctx)
	if err != nil {
		return fail(err)
	}
	unwell, network := wellness(ctx, client)
	if unwell != nil {
		return fail(unwell)
	}
	r := runtime.New(runtime.Config{Client: client, Installation: installation, Now: time.Now})
	foreign, err := r.Foreign(ctx)
	if err != nil {
		return fail(err)
	}
	kubelet, err := r.ForeignKubelet(ctx)
	if err != nil {
		return fail(err)
	}

	findings := []Finding{{LevelOK, subject, version.Name + " " + strings.TrimPrefix(version.Version, "v")}}
	warn := func(message string) { findings = append(findings, Finding{LevelWarn, "runtime", message}) }
	if network != nil {
		warn(network.Error() + "; until it is, only pods with hostNetwork start")
	}
	if foreign > 0 {
		warn(count(foreign, "foreign pod", "foreign pods") + "; not touched")
	}
	if kubelet {
		warn(KubeletWarning)
	}
	return findings
}

// wellness polls the runtime's health until there is an answer: why it cannot
// be used, and why its network cannot.
func wellness(ctx context.Context, client *runtime.Client) (unwell, network error) {
	ctx, cancel := context.WithCancel(ctx)
	health := runtime.NewStatus(client, slog.New(slog.DiscardHandler), time.Now)
	unasked := health.Healthy()
	var poll sync.WaitGroup
	poll.Go(func() { health.Run(ctx) })
	defer poll.Wait()
	defer cancel()

	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if unwell := health.Healthy(); unwell == nil || unwell.Error() != unasked.Error() {
			return unwell, health.NetworkReady()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("container runtime at %s does not say how it is: %w", client.Endpoint(), ctx.Err()), nil
		}
	}
}
