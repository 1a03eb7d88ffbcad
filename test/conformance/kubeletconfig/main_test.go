package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := convert(&out, []byte(`{"kind":"KubeletConfiguration","evictionHard":{"memory.available":"250Mi"},"evictionSoft":{"nodefs.available":"10%"},
"evictionSoftGracePeriod":{"nodefs.available":"1m30s"},"evictionMaxPodGracePeriod":30,"evictionPressureTransitionPeriod":"20s","kubeReserved":{"memory":"1Gi","cpu":"200m"},
"memoryThrottlingFactor":0.9,"memoryReservationPolicy":"TieredReservation","podPidsLimit":1024,"imageMinimumGCAge":"0s","imageMaximumGCAge":"1m","imageGCHighThresholdPercent":85,"containerLogMaxSize":"40Ki","containerLogMaxFiles":3,
"shutdownGracePeriodByPodPriority":[{"priority":-5,"shutdownGracePeriodSeconds":10}]}`), "unix:///run/c.sock"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{
		"[eviction]", `max_pod_grace_period = "30s"`, `pressure_transition_period = "20s"`,
		"[eviction.hard]", `"imagefs.available" = "0%"`, `"imagefs.inodesFree" = "0%"`, `"memory.available" = "250Mi"`, `"nodefs.available" = "0%"`, `"nodefs.inodesFree" = "0%"`, `"pid.available" = "0%"`,
		"[eviction.soft]", `"nodefs.available" = "10%"`, "[eviction.soft_grace_period]", `"nodefs.available" = "1m30s"`, "",
		"[node]", `kube_reserved = ["cpu=200m", "memory=1Gi"]`, `memory_reservation_policy = "TieredReservation"`, "memory_throttling_factor = 0.9", "pod_pids_limit = 1024", `shutdown_by_priority = ["-5=10s"]`, `shutdown_grace_period = "0s"`,
		`shutdown_grace_period_critical_pods = "0s"`, "system_reserved = []", "",
		"[runtime]", "container_log_max_files = 3", `container_log_max_size = "40Ki"`, `endpoint = "unix:///run/c.sock"`, "image_gc_high_threshold_percent = 85",
		`image_maximum_gc_age = "1m0s"`, `image_minimum_gc_age = "0s"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("agent.toml (-want +got):\n%s", d)
	}
	if err := convert(&out, []byte("evictionHard: 7"), ""); err == nil {
		t.Error("no error for what is no configuration")
	}
}
