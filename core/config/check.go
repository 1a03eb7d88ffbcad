package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// check reports what is wrong with values that decoded. Paths are resolved.
func (c *Config) check(report strict.Report) {
	if c.NodeName != "" {
		for _, fault := range validation.IsDNS1123Subdomain(c.NodeName) {
			report("node_name", "%q is no node name: %s", c.NodeName, fault)
		}
	}
	oneOf(report, "log_level", c.LogLevel, nil, "debug", "info", "warn", "error")
	oneOf(report, "log_format", c.LogFormat, nil, LogText, LogJSON)
	if err := checkEndpoint(c.Runtime.Endpoint); err != nil {
		report("runtime.endpoint", "%v", err)
	}
	positive(report, "runtime.request_timeout", c.Runtime.RequestTimeout)
	oneOf(report, "runtime.cgroup_driver", c.Runtime.CgroupDriver, []string{"systemd"}, CgroupFS)
	checkSysctls(report, "runtime.allowed_unsafe_sysctls", c.Runtime.AllowedUnsafeSysctls)
	c.Runtime.checkHandlers(report)
	c.Runtime.checkLogs(report)
	c.Runtime.checkPulls(report)
	c.Node.check(report, c.Cluster.Kubeconfig != "")
	c.Cluster.check(report)
	c.checkNodeAPI(report)
	c.checkObjects(report)
	positive(report, "sync.frequency", c.Sync.Frequency)
	oneOf(report, "sync.on_denied_replacement", c.Sync.OnDeniedReplacement, nil, DeniedKeep, DeniedStop)
	c.Policy.check(report)
	c.checkDefaultVerdict(report)
	c.checkSources(report)
	c.checkTenants(report)
	c.checkConflicts(report)
	c.checkPaths(report)
	c.Metrics.check(report)
}

// oneOf reports a value that is none of known; later are the values this
// version refuses by name.
func oneOf(report strict.Report, key, value string, later []string, known ...string) {
	quoted := `"` + strings.Join(known, `", "`) + `"`
	if i := strings.LastIndex(quoted, ", "); i >= 0 {
		quoted = quoted[:i] + " or" + quoted[i+1:]
	}
	switch {
	case slices.Contains(known, value):
	case value == "":
		report(key, "missing; want %s", quoted)
	case slices.Contains(later, value):
		report(key, "%q is not supported in this version; want %s", value, quoted)
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

// checkHandlers wants the names that a RuntimeClass and its handler may have.
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

// checkLogs wants what a kubelet takes, and more than a size of nothing: of that no log could be.
func (r *Runtime) checkLogs(report strict.Report) {
	if r.MaxLogSize() == 0 {
		report("runtime.container_log_max_size", `want a quantity of bytes such as "10Mi", or "-1" for logs that are not rotated, found %q`, r.ContainerLogMaxSize)
	}
	if r.ContainerLogMaxFiles < 2 {
		report("runtime.container_log_max_files", "want at least 2, the log and what it was before, found %d", r.ContainerLogMaxFiles)
	}
}

// checkCgroupRoot wants a cgroup of the agent's own: pods directly below the
// root would share it with the system.
func checkCgroupRoot(root string) error {
	switch {
	case root == "" || root == "/":
		return errors.New(`want a cgroup of the agent's own such as "/wardlet", not the root`)
	case !filepath.IsAbs(root) || filepath.Clean(root) != root:
		return fmt.Errorf("want a clean path that begins with /, found %q", root)
	}
	return nil
}
