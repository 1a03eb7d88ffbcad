package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// liveKeys are the keys that take effect in a running agent. core/agent has the code that applies
// them.
var liveKeys = map[string]bool{
	"log_level": true,

	"runtime.request_timeout": true,

	"sync.frequency":             true,
	"sync.on_denied_replacement": true,

	"policy.default_verdict": true,
	"policy.exempt":          true,
	"policy.max_suppress":    true,
	"policy.deny_pacing":     true,

	"tenant[].max_suppress":    true,
	"tenant[].fuel_per_second": true,
}

// The reasons why a running agent cannot change a key.
const (
	whyStart     = "it is read once, when the agent starts"
	whyIdentity  = "it is part of the UIDs and names of pods"
	whyOpened    = "it is opened once, when the agent starts"
	whyPlaces    = "what lies there belongs to pods that run"
	whyRuntime   = "the connection to the runtime is made once, when the agent starts"
	whyPulls     = "what pulls images is made with it"
	whyPods      = "pods that run were made with it"
	whyAdmission = "what is admitted is settled when the agent starts"
	whyShutdown  = "systemd-logind is asked once to wait for so long, when the agent starts"
	whyCluster   = "the node is registered once, when the agent starts"
	whyMux       = "what was decided about pods that run depends on it"
	whyPolicies  = "the policy engine is created with it"
	whySources   = "sources are made once, when the agent starts"
	whyObjects   = "the directory of objects is opened once, when the agent starts"
	whyEviction  = "the thresholds of eviction are set once, when the agent starts"
	whyImages    = "the removal of unused images is set up once, when the agent starts"
	whyLogs      = "the rotation of logs is set up once, when the agent starts"
	whyTenants   = "sources are bound to namespaces when the agent starts"
)

// restartKeys are the keys that take effect with a restart only, with the reasons. "array[].key" is
// a key of any element, "array[]" means that elements are added or removed, and "array" that their
// order changed, if the order matters.
var restartKeys = map[string]string{
	"node_name":  whyIdentity,
	"log_format": whyOpened,

	"paths.state_root":  whyPlaces,
	"paths.pod_root":    whyPlaces,
	"paths.log_root":    whyPlaces,
	"paths.cert_dir":    whyPlaces,
	"paths.socket":      whyOpened,
	"paths.cgroup_root": whyPlaces,

	"runtime.endpoint":                        whyRuntime,
	"runtime.cgroup_driver":                   whyPods,
	"runtime.cgroup_driver_fallback":          whyPods,
	"runtime.resolv_conf":                     whyPods,
	"runtime.parallel_pulls":                  whyPulls,
	"runtime.pull_progress_timeout":           whyPulls,
	"runtime.offline_pull":                    whyPulls,
	"runtime.prepull":                         whyPulls,
	"runtime.registry_config":                 whyPulls,
	"runtime.credential_provider_config":      whyPulls,
	"runtime.credential_provider_bin_dir":     whyPulls,
	"runtime.allowed_unsafe_sysctls":          whyAdmission,
	"runtime.seccomp_default":                 whyPods,
	"runtime.adopt_foreign":                   whyRuntime,
	"runtime.container_log_max_size":          whyLogs,
	"runtime.container_log_max_files":         whyLogs,
	"runtime.image_gc_high_threshold_percent": whyImages,
	"runtime.image_gc_low_threshold_percent":  whyImages,
	"runtime.image_minimum_gc_age":            whyImages,
	"runtime.image_maximum_gc_age":            whyImages,
	"runtime.handler[]":                       whyPods,
	"runtime.handler[].class":                 whyPods,
	"runtime.handler[].handler":               whyPods,

	"node.labels":                    whyAdmission,
	"node.taints":                    whyAdmission,
	"node.max_pods":                  whyAdmission,
	"node.extended_resources":        whyAdmission,
	"node.critical":                  whyAdmission,
	"node.static_pods_are_critical":  whyAdmission,
	"node.system_reserved":           whyAdmission,
	"node.kube_reserved":             whyAdmission,
	"node.pod_pids_limit":            whyPods,
	"node.swap_behavior":             whyPods,
	"node.memory_throttling_factor":  whyPods,
	"node.memory_reservation_policy": whyPods,

	"node.shutdown_grace_period":               whyShutdown,
	"node.shutdown_grace_period_critical_pods": whyShutdown,
	"node.shutdown_by_priority":                whyShutdown,
	"node.single_process_oom_kill":             whyPods,

	"cluster.kubeconfig":           whyCluster,
	"cluster.bootstrap_kubeconfig": whyCluster,
	"cluster.rotate_certificates":  whyOpened,
	"cluster.node_ip":              whyCluster,
	"cluster.dns":                  whyPods,
	"cluster.domain":               whyPods,

	"node_api.listen":               whyOpened,
	"node_api.cert_file":            whyOpened,
	"node_api.key_file":             whyOpened,
	"node_api.client_ca_file":       whyOpened,
	"node_api.system_logs":          whyOpened,
	"node_api.server_tls_bootstrap": whyOpened,
	"node_api.read_only_listen":     whyOpened,
	"node_api.healthz_listen":       whyOpened,

	"eviction.hard":                       whyEviction,
	"eviction.soft":                       whyEviction,
	"eviction.soft_grace_period":          whyEviction,
	"eviction.minimum_reclaim":            whyEviction,
	"eviction.pressure_transition_period": whyEviction,
	"eviction.max_pod_grace_period":       whyEviction,
	"eviction.tenants_pay_first":          whyEviction,

	"objects.dir":      whyObjects,
	"objects.key_file": whyObjects,

	"policy.dir":               whyPolicies,
	"policy.cluster_set":       whyPolicies,
	"policy.allow_unpinned":    whyPolicies,
	"policy.mutate_api":        whyPolicies,
	"policy.trusted_keys":      whyPolicies,
	"policy.require_signature": whyPolicies,
	"policy.record_bytes":      whyPolicies,
	"policy.module_bytes":      whyPolicies,
	"policy.code_bytes":        whyPolicies,

	"source":                    whySources,
	"source[]":                  whySources,
	"source[].name":             whyIdentity,
	"source[].kind":             whySources,
	"source[].path":             whySources,
	"source[].missing_path":     whySources,
	"source[].url":              whySources,
	"source[].period":           whySources,
	"source[].timeout":          whySources,
	"source[].header_file":      whySources,
	"source[].ca_file":          whySources,
	"source[].client_cert_file": whySources,
	"source[].client_key_file":  whySources,
	"source[].token_file":       whySources,
	"source[].experimental":     whySources,
	"source[].tenant":           whySources,

	"tenant[]":                      whyTenants,
	"tenant[].name":                 whyTenants,
	"tenant[].namespaces":           whyTenants,
	"tenant[].policy_dir":           whyPolicies,
	"tenant[].max_priority":         whyAdmission,
	"tenant[].compile_per_hour":     whyPolicies,
	"tenant[].log_bytes_per_second": whyPolicies,
	"tenant[].policy_memory":        whyPolicies,
	"tenant[].record_bytes":         whyPolicies,
	"tenant[].trusted_keys":         whyPolicies,
	"tenant[].require_signature":    whyPolicies,

	"conflicts.rule":       whyMux,
	"conflicts.precedence": whyMux,

	"metrics.listen": whyOpened,
}

// LiveKeys returns the keys that take effect in a running agent, sorted. "[]" means any element of
// an array of tables; a Change has "[a]" for the element with the name a. Rule converts the second
// form to the first.
func LiveKeys() []string { return slices.Sorted(maps.Keys(liveKeys)) }

// Rule converts the key of a Change to the form of LiveKeys.
func Rule(key string) string {
	array, rest, inArray := strings.Cut(key, "[")
	_, rest, closed := strings.Cut(rest, "]")
	if !inArray || !closed {
		return key
	}
	return array + "[]" + rest
}

// InForce returns the configuration in force after a running agent has read next: c, with the
// values of next for the keys that can change in a running agent. It modifies neither c nor next.
func (c *Config) InForce(next *Config) *Config {
	out := *c
	out.Tenants = slices.Clone(c.Tenants)
	take(liveKeys, "", reflect.ValueOf(&out).Elem(), reflect.ValueOf(next).Elem())
	return &out
}

// take copies the values of some keys into a table. In arrays of tables, it copies them for the
// elements that both have, by name.
func take(keys map[string]bool, table string, into, from reflect.Value) {
	for i := range into.NumField() {
		name := keyOf(into.Type().Field(i))
		switch key := joinKey(table, name); {
		case name == "":
		case isTable(into.Type().Field(i).Type):
			take(keys, key, into.Field(i), from.Field(i))
		case isTables(into.Type().Field(i).Type):
			is := names(from.Field(i))
			for j, called := range names(into.Field(i)) {
				if k := slices.Index(is, called); k >= 0 {
					take(keys, key+"[]", into.Field(i).Index(j), from.Field(i).Index(k))
				}
			}
		case keys[key]:
			into.Field(i).Set(from.Field(i))
		}
	}
}
