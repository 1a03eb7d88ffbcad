package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/node/util/sysctl"

	"github.com/wardlet/wardlet/core/strict"
)

// check reports invalid values. Values are decoded, and paths are resolved.
func (c *Config) check(report strict.Report) {
	if c.NodeName != "" {
		for _, fault := range validation.IsDNS1123Subdomain(c.NodeName) {
			report("node_name", "%q is no node name: %s", c.NodeName, fault)
		}
	}
	oneOf(report, "log_level", c.LogLevel, "debug", "info", "warn", "error")
	oneOf(report, "log_format", c.LogFormat, LogText, LogJSON)
	if err := checkEndpoint(c.Runtime.Endpoint); err != nil {
		report("runtime.endpoint", "%v", err)
	}
	positive(report, "runtime.request_timeout", c.Runtime.RequestTimeout)
	oneOf(report, "runtime.cgroup_driver", c.Runtime.CgroupDriver, CgroupAuto, CgroupFS, CgroupSystemd)
	oneOf(report, "runtime.cgroup_driver_fallback", c.Runtime.CgroupDriverFallback, CgroupFS, CgroupSystemd)
	checkSysctls(report, "runtime.allowed_unsafe_sysctls", c.Runtime.AllowedUnsafeSysctls)
	c.Runtime.checkHandlers(report)
	c.Runtime.checkLogs(report)
	c.Runtime.checkPulls(report)
	c.Node.check(report, c.Cluster.Kubeconfig != "")
	c.Cluster.check(report)
	c.checkNodeAPI(report)
	c.checkObjects(report)
	c.Eviction.check(report)
	positive(report, "sync.frequency", c.Sync.Frequency)
	oneOf(report, "sync.on_denied_replacement", c.Sync.OnDeniedReplacement, DeniedKeep, DeniedStop)
	c.Policy.check(report)
	if c.Policy.ClusterSet != "" && c.Cluster.Kubeconfig == "" {
		report("policy.cluster_set", "is for a node of a cluster; name its kubeconfig in cluster.kubeconfig")
	}
	c.checkDefaultVerdict(report)
	c.checkSources(report)
	c.checkTenants(report)
	c.checkConflicts(report)
	c.checkPaths(report)
	c.Metrics.check(report)
}

// oneOf reports a value that is not among known.
func oneOf(report strict.Report, key, value string, known ...string) {
	quoted := `"` + strings.Join(known, `", "`) + `"`
	if i := strings.LastIndex(quoted, ", "); i >= 0 {
		quoted = quoted[:i] + " or" + quoted[i+1:]
	}
	switch {
	case slices.Contains(known, value):
	case value == "":
		report(key, "missing; want %s", quoted)
	default:
		report(key, "want %s, found %q", quoted, value)
	}
}

func positive(report strict.Report, key string, d time.Duration) {
	if d <= 0 {
		report(key, "want more than 0s, found %s", d)
	}
}

func checkEndpoint(endpoint string) error {
	path, ok := strings.CutPrefix(endpoint, "unix://")
	switch {
	case filepath.IsAbs(endpoint):
		return fmt.Errorf("%q has no scheme; write %q", endpoint, "unix://"+endpoint)
	case !ok:
		return fmt.Errorf("want unix:// and the absolute path of a socket, found %q", endpoint)
	case !filepath.IsAbs(path):
		return fmt.Errorf("%q names no absolute path; write unix:// and a path that begins with /", endpoint)
	}
	return nil
}

// checkHandlers reports invalid names of RuntimeClasses and handlers.
func (r *Runtime) checkHandlers(report strict.Report) {
	classes := map[string]bool{}
	for i, h := range r.Handlers {
		key := func(name string) string { return fmt.Sprintf("runtime.handler[%d].%s", i, name) }
		faults := validation.IsDNS1123Subdomain(h.Class)
		switch {
		case h.Class == "":
			report(key("class"), `missing; pods name it in spec.runtimeClassName, for example class = "gvisor"`)
		case classes[h.Class]:
			report(key("class"), "%q is the class of another handler; leave one of them", h.Class)
		case len(faults) > 0:
			report(key("class"), "%q is no name of a runtime class: %s", h.Class, faults[0])
		case h.Handler == "" && len(validation.IsDNS1123Label(h.Class)) > 0:
			report(key("handler"), "missing, and the class %q cannot be the runtime's name for it; write it, for example handler = \"runsc\"", h.Class)
		}
		classes[h.Class] = true
		if h.Handler != "" {
			for _, fault := range validation.IsDNS1123Label(h.Handler) {
				report(key("handler"), "%q is no name of a runtime handler: %s", h.Handler, fault)
			}
		}
	}
}

// checkLogs applies a kubelet's limits. It also reports a maximum size of 0, with which no log
// could exist.
func (r *Runtime) checkLogs(report strict.Report) {
	if r.MaxLogSize() == 0 {
		report("runtime.container_log_max_size", `want a quantity of bytes such as "10Mi", or "-1" for logs that are not rotated, found %q`, r.ContainerLogMaxSize)
	}
	r.checkImageGC(report)
	if r.ContainerLogMaxFiles < 2 {
		report("runtime.container_log_max_files", "want at least 2, the log and what it was before, found %d", r.ContainerLogMaxFiles)
	}
}

// checkCgroupRoot requires a cgroup of the agent's own: pods directly below the root would share
// the root with the system.
func checkCgroupRoot(root string) error {
	switch {
	case root == "" || root == "/":
		return errors.New(`want a cgroup of the agent's own such as "/wardlet", not the root`)
	case !filepath.IsAbs(root) || filepath.Clean(root) != root:
		return fmt.Errorf("want a clean path that begins with /, found %q", root)
	}
	return nil
}

// MaxModuleBytes is the maximum of policy.module_bytes and policy.code_bytes.
const MaxModuleBytes = 6 << 20

// minModuleBytes is the minimum of both. A plugin in C has some 20 KiB; one in Go has 2 MiB, two
// thirds of it code. Fuel counters make code longer, so a longer module could become longer than
// the compiler accepts.
const minModuleBytes = 64 << 10

// The limits of record_bytes, in bytes. The minimum holds some hundred records; the maximum is more
// than a node writes in its lifetime.
const (
	minRecordBytes = 1 << 20
	maxRecordBytes = 16 << 30
)

func checkRecordBytes(report strict.Report, key string, n int64) {
	if n < minRecordBytes || n > maxRecordBytes {
		report(key, "want %d to %d bytes, found %d", minRecordBytes, int64(maxRecordBytes), n)
	}
}

func (p *Policy) check(report strict.Report) {
	oneOf(report, "policy.default_verdict", p.DefaultVerdict, VerdictAllow, VerdictHold, VerdictDeny)
	positive(report, "policy.max_suppress", p.MaxSuppress)
	checkRecordBytes(report, "policy.record_bytes", p.RecordBytes)
	checkSigning(report, "policy", p.TrustedKeys, p.RequireSignature)
	if p.ClusterSet != "" {
		p.checkClusterSet(report)
	}
	for i, name := range p.Exempt {
		if !isPodName(name) {
			report(fmt.Sprintf("policy.exempt[%d]", i), `want NAMESPACE/NAME of a pod, for example "kube-system/dns", found %.80q`, name)
		}
	}
	size := func(key string, n int) (fits bool) {
		if n < minModuleBytes || n > MaxModuleBytes {
			report(key, "want %d to %d bytes, found %d", minModuleBytes, MaxModuleBytes, n)
			return false
		}
		return true
	}
	module, code := size("policy.module_bytes", p.ModuleBytes), size("policy.code_bytes", p.CodeBytes)
	if module && code && p.CodeBytes > p.ModuleBytes {
		report("policy.code_bytes", "want at most policy.module_bytes, of which the code is a part: %d bytes, found %d", p.ModuleBytes, p.CodeBytes)
	}
}

// HasPolicies reports whether the operator or a tenant has a directory of policies.
func (c *Config) HasPolicies() bool {
	return c.Policy.Dir != "" || c.Policy.ClusterSet != "" || slices.ContainsFunc(c.Tenants, func(t Tenant) bool { return t.PolicyDir != "" })
}

// checkClusterSet checks the ConfigMap of the policies, and that not everybody may write it.
func (p *Policy) checkClusterSet(report strict.Report) {
	namespace, name, ok := strings.Cut(p.ClusterSet, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		report("policy.cluster_set", "want a ConfigMap as NAMESPACE/NAME, found %q", p.ClusterSet)
	}
	if len(p.TrustedKeys) == 0 {
		report("policy.cluster_set", "name the keys that may sign it in policy.trusted_keys: everybody who may write the ConfigMap could decide about this node's pods")
	}
}

// UsesClusterSet reports whether the operator's policies are those of policy.cluster_set. A directory
// of policies outranks them.
func (c *Config) UsesClusterSet() bool {
	return c.Policy.ClusterSet != "" && (c.Policy.Dir == "" || c.Policy.Dir == c.clusterSetDir())
}

// clusterSetDir is the directory of the cluster's policies, a link.
func (c *Config) clusterSetDir() string {
	return filepath.Join(c.Paths.StateRoot, "cluster-set", "current")
}

// checkDefaultVerdict reports a restrictive default verdict without policies: all pods would be
// admitted, although the operator expects them to be denied or held.
func (c *Config) checkDefaultVerdict(report strict.Report) {
	verdict := c.Policy.DefaultVerdict
	if verdict != VerdictDeny && verdict != VerdictHold || c.HasPolicies() {
		return
	}
	report("policy.default_verdict", "%q counts only where there are policies, and without a directory of them every pod is admitted: "+
		"name one as policy.dir, or as policy_dir of a tenant", verdict)
}

// publicKey matches a public key of minisign: 42 bytes in base64 that begin with "Ed".
var publicKey = regexp.MustCompile(`^RW[A-Za-z0-9+/]{54}$`)

// checkSigning checks the keys that may sign the policies of a table's directory.
func checkSigning(report strict.Report, table string, keys []string, required bool) {
	for i, key := range keys {
		if !publicKey.MatchString(key) {
			report(fmt.Sprintf("%s.trusted_keys[%d]", table, i), `want the line of a public key of minisign, which begins with "RW", found %.80q`, key)
		}
	}
	if required && len(keys) == 0 {
		report(table+".require_signature", "no signature can be good without trusted_keys; name the public keys that may sign the policies")
	}
}

// maxSysctl is the maximum length of a sysctl's name, in bytes.
const maxSysctl = 253

var sysctlPattern = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`)

// checkSysctls requires names, or prefixes of names, of sysctls that have a namespace of their own
// in a pod.
func checkSysctls(report strict.Report, key string, patterns []string) {
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s[%d]", key, i)
		if len(pattern) > maxSysctl || !sysctlPattern.MatchString(pattern) {
			report(at, `want the name of a sysctl, or its beginning and a *, for example "net.core.somaxconn" or "kernel.msg*", found %.80q`, pattern)
		} else if of, _, _ := sysctl.GetNamespace(pattern); of == sysctl.UnknownNamespace {
			report(at, "%q belongs to the whole node: pods have only network sysctls (net.*) and some of IPC (kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.*) of their own", pattern)
		}
	}
}

// checkImageGC checks when unused images are removed.
func (r *Runtime) checkImageGC(report strict.Report) {
	high, low := r.ImageGCHighThresholdPercent, r.ImageGCLowThresholdPercent
	for key, percent := range map[string]int64{"high": high, "low": low} {
		if percent < 0 || percent > 100 {
			report("runtime.image_gc_"+key+"_threshold_percent", "want 0 to 100, found %d", percent)
			return
		}
	}
	if low >= high {
		report("runtime.image_gc_low_threshold_percent", "want less than image_gc_high_threshold_percent, which is %d, found %d", high, low)
	}
	if r.ImageMinimumGCAge < 0 {
		report("runtime.image_minimum_gc_age", "want 0s or more, found %s", r.ImageMinimumGCAge)
	}
	if r.ImageMaximumGCAge != 0 && r.ImageMaximumGCAge <= r.ImageMinimumGCAge {
		report("runtime.image_maximum_gc_age", `want more than image_minimum_gc_age, which is %s, or "0s" for no limit, found %s`, r.ImageMinimumGCAge, r.ImageMaximumGCAge)
	}
}
