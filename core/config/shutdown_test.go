package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShutdownPeriods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []ShutdownPeriod
	}{
		"a shutdown waits for no pod by default": {"", nil},
		"all pods and critical ones": {
			"shutdown_grace_period = \"30s\"\nshutdown_grace_period_critical_pods = \"10s\"\n",
			[]ShutdownPeriod{{0, 20 * time.Second}, {criticalPriority, 10 * time.Second}},
		},
		"no time for critical pods": {
			"shutdown_grace_period = \"1m\"\n", []ShutdownPeriod{{0, time.Minute}, {criticalPriority, 0}},
		},
		"by priority, in any order": {
			`shutdown_by_priority = ["1000=5s", "-7=1m", "0=0s"]` + "\n",
			[]ShutdownPeriod{{-7, time.Minute}, {0, 0}, {1000, 5 * time.Second}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(write(t, source+"[node]\n"+test.text), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, c.Node.ShutdownPeriods()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNode_refusedShutdown(t *testing.T) {
	t.Parallel()
	const form = `node.shutdown_by_priority: want PRIORITY=DURATION in whole seconds, for example "1000=30s"`
	for name, test := range map[string]struct{ text, want string }{
		"parts of a second":            {`shutdown_grace_period = "1500ms"`, `node.shutdown_grace_period: want whole seconds from 0s to 24h0m0s, found 1.5s`},
		"less than no time":            {`shutdown_grace_period_critical_pods = "-1s"`, `node.shutdown_grace_period_critical_pods: want whole seconds`},
		"more than a day":              {`shutdown_grace_period = "25h"`, `node.shutdown_grace_period: want whole seconds`},
		"more for critical pods":       {"shutdown_grace_period = \"10s\"\nshutdown_grace_period_critical_pods = \"11s\"", `node.shutdown_grace_period_critical_pods: it is a part of node.shutdown_grace_period: want at most 10s, found 11s`},
		"critical pods alone":          {`shutdown_grace_period_critical_pods = "5s"`, `node.shutdown_grace_period_critical_pods: it is a part of node.shutdown_grace_period: want at most 0s, found 5s`},
		"both forms":                   {"shutdown_grace_period = \"10s\"\nshutdown_by_priority = [\"0=5s\"]", `node.shutdown_by_priority: it replaces node.shutdown_grace_period; leave one of them out`},
		"no priority":                  {`shutdown_by_priority = ["30s"]`, form},
		"a priority that is no number": {`shutdown_by_priority = ["high=30s"]`, form},
		"no unit":                      {`shutdown_by_priority = ["0=30"]`, form + `, found "0=30"`},
		"half a second":                {`shutdown_by_priority = ["0=500ms"]`, form},
		"a priority twice":             {`shutdown_by_priority = ["0=5s", "0=6s"]`, `node.shutdown_by_priority: the priority 0 is named twice`},
		"no time at all":               {`shutdown_by_priority = ["0=0s"]`, `node.shutdown_by_priority: all periods are 0s`},
		"too much together":            {`shutdown_by_priority = ["0=24h", "1=1s"]`, `node.shutdown_by_priority: want at most 24h0m0s together, found 24h0m1s`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := 6 + strings.Count(test.text, "\n")
			refuses(t, source+"[node]\n"+test.text+"\n", fmt.Sprintf("agent.toml:%d: %s", line, test.want))
		})
	}
}
