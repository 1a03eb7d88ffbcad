// Command kubeletconfig prints the part of an agent.toml that means what the KubeletConfiguration in a
// file means. The tests of Kubernetes' node suite write such a file and restart the node agent.
//
//	kubeletconfig FILE CRI-ENDPOINT
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/nodeapi"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kubeletconfig FILE CRI-ENDPOINT")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = convert(os.Stdout, text, os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubeletconfig:", err)
		os.Exit(1)
	}
}

// convert writes the sections eviction, node and runtime.
func convert(w io.Writer, text []byte, endpoint string) error {
	var k nodeapi.KubeletConfiguration
	if err := yaml.Unmarshal(text, &k); err != nil {
		return err
	}
	hard := map[string]string{}
	for _, signal := range threshold.Signals() {
		hard[string(signal)] = "0%" // a signal that a kubelet's configuration does not name has no threshold
	}
	maps.Copy(hard, k.EvictionHard)
	node := map[string]any{
		"system_reserved": reservations(k.SystemReserved), "kube_reserved": reservations(k.KubeReserved),
		"shutdown_grace_period": k.ShutdownGracePeriod.Duration.String(), "shutdown_grace_period_critical_pods": k.ShutdownGracePeriodCriticalPods.Duration.String(),
		"shutdown_by_priority": priorities(k.ShutdownGracePeriodByPodPriority),
	}
	if k.MaxPods > 0 {
		node["max_pods"] = k.MaxPods
	}
	if k.PodPidsLimit != nil && *k.PodPidsLimit > 0 {
		node["pod_pids_limit"] = *k.PodPidsLimit
	}
	if k.SingleProcessOOMKill != nil {
		node["single_process_oom_kill"] = *k.SingleProcessOOMKill
	}
	if k.MemoryThrottlingFactor != nil {
		node["memory_throttling_factor"] = *k.MemoryThrottlingFactor
	}
	if k.MemoryReservationPolicy != "" {
		node["memory_reservation_policy"] = k.MemoryReservationPolicy
	}
	if k.MemorySwap.SwapBehavior != "" {
		node["swap_behavior"] = k.MemorySwap.SwapBehavior
	}
	runtime := map[string]any{"endpoint": endpoint, "image_minimum_gc_age": k.ImageMinimumGCAge.Duration.String(), "image_maximum_gc_age": k.ImageMaximumGCAge.Duration.String()}
	for key, percent := range map[string]*int32{"image_gc_high_threshold_percent": k.ImageGCHighThresholdPercent, "image_gc_low_threshold_percent": k.ImageGCLowThresholdPercent} {
		if percent != nil {
			runtime[key] = *percent
		}
	}
	if k.ContainerLogMaxSize != "" {
		runtime["container_log_max_size"] = k.ContainerLogMaxSize
	}
	if k.ContainerLogMaxFiles != nil {
		runtime["container_log_max_files"] = *k.ContainerLogMaxFiles
	}
	return toml.NewEncoder(w).Encode(map[string]any{
		"eviction": map[string]any{
			"hard": hard, "soft": k.EvictionSoft, "soft_grace_period": k.EvictionSoftGracePeriod, "minimum_reclaim": k.EvictionMinimumReclaim,
			"pressure_transition_period": k.EvictionPressureTransitionPeriod.Duration.String(),
			"max_pod_grace_period":       (time.Duration(k.EvictionMaxPodGracePeriod) * time.Second).String(),
		},
		"node": node, "runtime": runtime,
	})
}

// reservations returns reservations in the form of agent.toml.
func reservations(amounts map[string]string) []string {
	texts := []string{}
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		texts = append(texts, name+"="+amounts[name])
	}
	return texts
}

// priorities returns the periods of a shutdown in the form of agent.toml.
func priorities(periods []nodeapi.KubeletShutdownPeriod) []string {
	texts := []string{}
	for _, p := range periods {
		texts = append(texts, strconv.Itoa(int(p.Priority))+"="+(time.Duration(p.ShutdownGracePeriodSeconds)*time.Second).String())
	}
	return texts
}
