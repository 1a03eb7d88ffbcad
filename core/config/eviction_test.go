package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

func TestLoad_evictionThresholds(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, source+`
[eviction]
soft = { "memory.available" = "300Mi" }
soft_grace_period = { "memory.available" = "90s" }
max_pod_grace_period = "30s"
[eviction.hard]
"nodefs.available" = "0%"
"pid.available" = "1k"
`), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	got := map[threshold.Signal]string{}
	for _, one := range c.Eviction.Thresholds() {
		got[one.Signal] += one.Value.String() + " " + one.Grace.String() + ";"
	}
	want := map[threshold.Signal]string{
		"memory.available": "100Mi 0s;300Mi 1m30s;", "nodefs.inodesFree": "5% 0s;", "imagefs.available": "15% 0s;", "imagefs.inodesFree": "5% 0s;", "pid.available": "1k 0s;",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("thresholds (-want +got):\n%s", d)
	}
	if e := c.Eviction; e.PressureTransitionPeriod != 5*time.Minute || e.MaxPodGracePeriod != 30*time.Second || !e.TenantsPayFirst {
		t.Errorf("eviction %+v", e)
	}
	if len(Default().Eviction.Hard) != 5 {
		t.Errorf("the defaults have changed: %v", Default().Eviction.Hard)
	}
}

func TestLoad_evictionFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[eviction]\npressure_transition_period = \"0s\"\nmax_pod_grace_period = \"-1s\"\n": "agent.toml:6: eviction.pressure_transition_period: want more than 0s, found 0s\n" +
			"agent.toml:7: eviction.max_pod_grace_period: want 0s or more, found -1s\n",
		"[eviction.hard]\n\"memory.available\" = \"101%\"\n": `agent.toml:6: eviction.hard."memory.available": want 0% to 100%, found "101%"` + "\n",
		"[eviction.hard]\n\n\"memory.free\" = \"1Gi\"\n":     `agent.toml:7: eviction.hard."memory.free": unknown signal; known are memory.available, nodefs.available, `,
		"[eviction]\nsoft = { \"nodefs.available\" = \"5%\" }\n": `agent.toml:6: eviction.soft."nodefs.available": needs a grace period: add it to eviction.soft_grace_period, ` +
			`for example "nodefs.available" = "90s"` + "\n",
		"[eviction.soft_grace_period]\n\"nodefs.available\" = \"soon\"\n": `agent.toml:6: eviction.soft_grace_period."nodefs.available": want a duration such as `,
		"[eviction]\nminimum_reclaim = 5\n":                               "agent.toml:6: eviction.minimum_reclaim: want a table, found the number 5\n",
	} {
		refuses(t, source+text, want)
	}
}
