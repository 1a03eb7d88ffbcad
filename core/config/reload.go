package config

import (
	"maps"
	"reflect"
	"slices"
)

// liveKeys are the keys that a running agent can change. What follows them is
// in core/agent.
var liveKeys = map[string]bool{
	"log_level": true,
}

// Why a running agent cannot change a key.
const (
	whyStart    = "it is read once, when the agent starts"
	whyIdentity = "it is part of the UIDs and names of pods"
	whyOpened   = "it is opened once, when the agent starts"
	whyPlaces   = "what lies there belongs to pods that run"
	whyRuntime  = "the connection to the runtime is made once, when the agent starts"
	whyPods     = "pods that run were made with it"
	whyWorkers  = "workers of pods take it when the agent starts"
	whyMux      = "what was decided about pods that run depends on it"
	whyPolicies = "the plane that judges pods is made with it"
	whySources  = "sources are made once, when the agent starts"
	whyTenants  = "sources are bound to namespaces when the agent starts"
)

// restartKeys are the keys that only an agent that starts takes, and why. "[]"
// is any element of an array of tables; alone it is for elements that come and
// go, and the array without it for their order, where that counts.
var restartKeys = map[string]string{
	"node_name":  whyIdentity,
	"log_format": whyOpened,

	"paths.state_root":  whyPlaces,
	"paths.pod_root":    whyPlaces,
	"paths.log_root":    whyPlaces,
	"paths.socket":      whyOpened,
	"paths.cgroup_root": whyPlaces,

	"runtime.endpoint":        whyRuntime,
	"runtime.request_timeout": whyRuntime,
	"runtime.cgroup_driver":   whyPods,
	"runtime.resolv_conf":     whyPods,
	"runtime.adopt_foreign":   whyRuntime,

	"sync.frequency":             whyWorkers,
	"sync.on_denied_replacement": whyMux,

	"policy.dir":               whyPolicies,
	"policy.allow_unpinned":    whyPolicies,
	"policy.default_verdict":   whyPolicies,
	"policy.exempt":            whyPolicies,
	"policy.max_suppress":      whyPolicies,
	"policy.deny_pacing":       whyPolicies,
	"policy.trusted_keys":      whyPolicies,
	"policy.require_signature": whyPolicies,
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

	"tenant[]":                   whyTenants,
	"tenant[].name":              whyTenants,
	"tenant[].namespaces":        whyTenants,
	"tenant[].policy_dir":        whyPolicies,
	"tenant[].max_suppress":      whyPolicies,
	"tenant[].fuel_per_second":   whyPolicies,
	"tenant[].trusted_keys":      whyPolicies,
	"tenant[].require_signature": whyPolicies,

	"conflicts.rule":       whyMux,
	"conflicts.precedence": whyMux,
}

// LiveKeys are the keys that a running agent can change, in the order of the
// alphabet. None is in an array of tables.
func LiveKeys() []string { return slices.Sorted(maps.Keys(liveKeys)) }

// InForce is what a running agent goes by once it has read next: its own
// configuration c, with next's values of the keys it can change. Neither is
// changed.
func (c *Config) InForce(next *Config) *Config {
	out := *c
	take(liveKeys, "", reflect.ValueOf(&out).Elem(), reflect.ValueOf(next).Elem())
	return &out
}

// take copies the values of some keys into a table. None of them is in an
// array of tables.
func take(keys map[string]bool, table string, into, from reflect.Value) {
	for i := range into.NumField() {
		name := keyOf(into.Type().Field(i))
		switch key := joinKey(table, name); {
		case name == "":
		case isTable(into.Type().Field(i).Type):
			take(keys, key, into.Field(i), from.Field(i))
		case keys[key]:
			into.Field(i).Set(from.Field(i))
		}
	}
}
