package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

// checkRuntime checks the runtime's version, health and cgroup driver, and whether the runtime's
// pods belong to id. timeout limits all these requests together.
func checkRuntime(ctx context.Context, cfg *config.Config, id identity, timeout time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
	driver, err := client.CgroupDriver(ctx)
	unknown := ""
	switch {
	case err != nil:
		unknown = err.Error()
	case driver == "":
		unknown = "the runtime does not report it, as containerd before 2.0"
	}
	r := runtime.New(runtime.Config{Config: criconfig.Config{Installation: id.installation}, Client: client, Now: time.Now})
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
	wanted := cfg.Runtime.CgroupDriver
	if wanted == config.CgroupAuto {
		wanted = cmp.Or(driver, cfg.Runtime.CgroupDriverFallback)
	}
	if mismatch := runtime.DriverMismatch(driver, wanted); mismatch != nil {
		findings = append(findings, Finding{LevelFail, "runtime", mismatch.Error()})
	}
	if unknown != "" {
		warn(fmt.Sprintf("its cgroup driver is not known (%s); unless it is %s, no pod starts: name it in runtime.cgroup_driver", unknown, wanted))
	}
	if network != nil {
		warn(network.Error() + "; until it is, only pods with hostNetwork start")
	}
	switch {
	case foreign > 0 && id.unclear:
		warn(count(foreign, "pod is there", "pods are there") + "; whose is not known without the state")
	case foreign > 0:
		warn(count(foreign, "foreign pod", "foreign pods") + "; not touched")
	}
	if kubelet {
		warn(runtime.KubeletWarning)
	}
	return findings
}

// wellness polls the runtime's health until there is an answer. It returns why the runtime cannot
// be used, and why its network cannot.
func wellness(ctx context.Context, client *runtime.Client) (unwell, network error) {
	ctx, cancel := context.WithCancel(ctx)
	health := runtime.NewHealth(client, func(runtime.Features) {}, slog.New(slog.DiscardHandler), time.Now)
	unasked := health.Healthy()
	var poll sync.WaitGroup
	poll.Go(func() { health.Run(ctx) })
	defer poll.Wait()
	defer cancel()

	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		// A poll that timed out is repeated until ctx ends.
		unwell := health.Healthy()
		if unwell == nil || unwell.Error() != unasked.Error() && !errors.Is(unwell, context.DeadlineExceeded) {
			return unwell, health.NetworkReady()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("container runtime at %s does not say how it is: %w; on a slow node try a longer --timeout", client.Endpoint(), ctx.Err()), nil
		}
	}
}
