package kubeletconfig

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/strict"
)

// conversion makes keys of agent.toml from the fields of a document.
type conversion struct {
	*document
	warnings strict.Errors
	// keys are the tables and keys of agent.toml.
	keys map[string]any
	// sources are the tables of [[source]]. period has their periods by kind.
	sources []map[string]any
	period  map[string]string
	// now is the field that is converted, nil for none, and origins are the fields that set keys.
	now     *field
	origins map[string]*field
	// oomScore is oomScoreAdj.
	oomScore int
}

func (c *conversion) refuse(f *field, why string) { c.fault(f.file, f.node.Line, f.name, why) }

func (c *conversion) warn(f *field, why string) {
	c.warnings = append(c.warnings, strict.Error{File: f.file, Line: f.node.Line, Key: f.name, Message: why})
}

func (c *conversion) wrong(f *field, want string) {
	c.refuse(f, fmt.Sprintf("want %s, found %q", want, f.node.Value))
}

// put sets a key of agent.toml, "TABLE.KEY" or "TABLE.TABLE.KEY" with the last part as key.
func (c *conversion) put(key string, value any) {
	if c.now != nil {
		c.origins[key] = c.now
	}
	table := c.keys
	for {
		name, rest, more := strings.Cut(key, ".")
		if !more {
			table[key] = value
			return
		}
		next, _ := table[name].(map[string]any)
		if next == nil {
			next = map[string]any{}
			table[name] = next
		}
		table, key = next, rest
	}
}

// append adds a value to the list of a key.
func (c *conversion) append(table, key, value string) {
	is, _ := c.keys[table].(map[string]any)
	list, _ := is[key].([]string)
	c.put(table+"."+key, append(list, value))
}

// text sets a key to a text. As with a kubelet, an empty one is the default.
func text(key string) rule {
	return func(c *conversion, f *field) {
		if !f.blank() {
			textOrNone(key)(c, f)
		}
	}
}

// textOrNone is text for a field whose empty value is not its default.
func textOrNone(key string) rule {
	return func(c *conversion, f *field) {
		var value string
		if f.node.Tag != "!!str" || f.node.Decode(&value) != nil {
			c.wrong(f, "a string")
			return
		}
		c.put(key, value)
	}
}

// blank reports whether the value is an empty text, and empty whether it is an empty text, list or
// map.
func (f *field) blank() bool { return f.node.Tag == "!!str" && f.node.Value == "" }

func (f *field) empty() bool {
	return f.blank() || f.node.Kind != yaml.ScalarNode && len(f.node.Content) == 0
}

func boolean(key string) rule {
	return func(c *conversion, f *field) {
		if value, ok := c.truth(f); ok {
			c.put(key, value)
		}
	}
}

func (c *conversion) truth(f *field) (value, ok bool) {
	if f.node.Decode(&value) != nil {
		c.wrong(f, "true or false")
		return false, false
	}
	return value, true
}

// is returns the value of a field that is true or false, or its default.
func (c *conversion) is(name string, otherwise bool) bool {
	value := otherwise
	if f := c.fields[name]; f == nil || f.node.Decode(&value) != nil {
		return otherwise // the field's rule refuses another value
	}
	return value
}

func number(key string) rule {
	return func(c *conversion, f *field) {
		if value, ok := c.number(f); ok {
			c.put(key, value)
		}
	}
}

func (c *conversion) number(f *field) (int64, bool) {
	var value int64
	if f.node.Tag != "!!int" || f.node.Decode(&value) != nil {
		c.wrong(f, "a number")
		return 0, false
	}
	return value, true
}

// throttling sets from which part of its memory on a container is slowed down.
func throttling(c *conversion, f *field) {
	var value float64
	if f.node.Decode(&value) != nil {
		c.wrong(f, "a number")
		return
	}
	if c.memoryQoS() {
		c.put(throttlingKey, value)
	}
}

// throttlingKey is the key of memoryThrottlingFactor, and defaultThrottling a kubelet's default.
const (
	throttlingKey     = "node.memory_throttling_factor"
	defaultThrottling = 0.9
)

// memoryQoS reports whether a kubelet uses memoryThrottlingFactor, which always has a value.
func (c *conversion) memoryQoS() bool {
	return c.is("featureGates.MemoryQoS", c.is("featureGates.AllAlpha", false))
}

func list(key string) rule {
	return func(c *conversion, f *field) {
		var values []string
		if f.node.Decode(&values) != nil {
			c.wrong(f, "a list of strings")
			return
		}
		if len(values) > 0 {
			c.put(key, values)
		}
	}
}

func duration(key string) rule {
	return func(c *conversion, f *field) {
		if value, ok := c.duration(f); ok && value != "0s" { // 0 is the default
			c.put(key, value)
		}
	}
}

func (c *conversion) duration(f *field) (string, bool) {
	value, err := time.ParseDuration(f.node.Value)
	if err != nil {
		c.wrong(f, `a duration such as "1m30s"`)
		return "", false
	}
	return value.String(), true
}

func sameDuration(a, b string) bool {
	x, err := time.ParseDuration(a)
	if err != nil {
		return false
	}
	y, err := time.ParseDuration(b)
	return err == nil && x == y
}

func seconds(key string) rule {
	return func(c *conversion, f *field) {
		if value, ok := c.number(f); ok {
			c.put(key, (time.Duration(value) * time.Second).String())
		}
	}
}

// entry returns the key and value of an entry of a map.
func (f *field) entry() (key, value string) {
	_, key, _ = strings.Cut(f.name, ".")
	return key, f.node.Value
}

func reservation(key string) rule {
	table, list, _ := strings.Cut(key, ".")
	return func(c *conversion, f *field) {
		name, amount := f.entry()
		c.append(table, list, name+"="+amount)
	}
}

func signal(table string) rule {
	return func(c *conversion, f *field) {
		name, value := f.entry()
		if strings.HasPrefix(name, "containerfs.") {
			c.warn(f, "has no effect: writable layers are on the file system of images; use imagefs")
			return
		}
		section, part, _ := strings.Cut(table, ".")
		is, _ := c.keys[section].(map[string]any)
		values, _ := is[part].(map[string]any)
		if values == nil {
			values = map[string]any{}
		}
		values[name] = value
		c.put(table, values)
	}
}

// source makes a source of pods. Its key is path or url.
func source(name, kind, key string) rule {
	return func(c *conversion, f *field) {
		if value := f.node.Value; value != "" {
			c.sources = append(c.sources, map[string]any{"name": name, "kind": kind, key: value})
		}
	}
}

func podLogs(c *conversion, f *field) {
	if f.blank() {
		return
	}
	if dir := f.node.Value; filepath.Base(dir) == "pods" && filepath.IsAbs(dir) {
		c.put("paths.log_root", filepath.Dir(dir))
		return
	}
	c.wrong(f, "an absolute path of a directory with the name pods")
}

// defaultEndpoint is a kubelet's and the agent's default.
const defaultEndpoint = "unix:///run/containerd/containerd.sock"

func imageService(c *conversion, f *field) {
	if f.node.Value != "" && f.node.Value != c.value("containerRuntimeEndpoint", defaultEndpoint) {
		c.refuse(f, fmt.Sprintf("is %q: images must come from the runtime of containerRuntimeEndpoint", f.node.Value))
	}
}

func taints(c *conversion, f *field) {
	var all []v1.Taint
	if err := f.node.Decode(&all); err != nil {
		c.wrong(f, "a list of taints")
		return
	}
	for i := range all {
		c.append("node", "taints", all[i].ToString())
	}
}

func shutdownPeriods(c *conversion, f *field) {
	var all []struct {
		Priority                   int32 `yaml:"priority"`
		ShutdownGracePeriodSeconds int64 `yaml:"shutdownGracePeriodSeconds"`
	}
	if err := f.node.Decode(&all); err != nil {
		c.wrong(f, "a list of priority and shutdownGracePeriodSeconds")
		return
	}
	for _, p := range all {
		c.append("node", "shutdown_by_priority", strconv.Itoa(int(p.Priority))+"="+(time.Duration(p.ShutdownGracePeriodSeconds)*time.Second).String())
	}
}

// complete sets the keys that several fields decide together, and those for which a kubelet has other
// defaults than agent.toml.
func (c *conversion) complete() {
	for _, s := range c.sources {
		if period := c.period[s["kind"].(string)]; period != "" && period != "0s" {
			s["period"] = period
		}
		if s["kind"] == "file" {
			s["missing_path"] = "empty"
		}
	}
	if len(c.sources) > 0 {
		c.keys["source"] = c.sources
	}
	c.put("paths.cgroup_root", filepath.Join("/", c.value("cgroupRoot", "/"), "kubepods"))
	c.put("runtime.adopt_foreign", true)
	c.put("node.static_pods_are_critical", true)
	if c.memoryQoS() && c.fields["memoryThrottlingFactor"] == nil {
		c.put(throttlingKey, defaultThrottling)
	}
	c.pulls()
	c.thresholds()
	c.listen()
	if c.command != nil && c.command.Kubeconfig == "" {
		c.alone()
	}
}

// alwaysAllow is the mode of authorization without questions to an API server.
const alwaysAllow = "AlwaysAllow"

// needsCluster is why a field or flag of the cluster has no effect.
const needsCluster = "has no effect, because the node is in no cluster: name its kubeconfig with --kubeconfig, or in agent.toml as [cluster] kubeconfig"

// alone leaves out what only the node of a cluster has. The node's API is not served if an API server
// would have to decide what its clients may do.
func (c *conversion) alone() {
	mode := "Webhook"
	if c.command.Config == "" {
		mode = alwaysAllow
	}
	mode = c.value("authorization.mode", mode)
	api, _ := c.keys["node_api"].(map[string]any)
	if api["listen"] != nil && mode != alwaysAllow {
		f := c.fields["authorization.mode"]
		if f == nil || f.blank() {
			f = c.fields["authentication.x509.clientCAFile"]
		}
		c.refuse(f, fmt.Sprintf("the mode of authorization is %q, but without a kubeconfig there is no API server to ask, and each client with a certificate could do everything: "+
			"name the kubeconfig with --kubeconfig, or in agent.toml as [cluster] kubeconfig; or write authorization.mode: AlwaysAllow; or enableServer: false", mode))
	}
	cluster, _ := c.keys["cluster"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(cluster)) {
		if cluster[key] != false {
			c.warn(c.origins["cluster."+key], needsCluster)
		}
	}
	delete(c.keys, "cluster")
}

// value returns the value of a field, or its default.
func (d *document) value(name, otherwise string) string {
	if f := d.fields[name]; f != nil && f.node.Value != "" {
		return f.node.Value
	}
	return otherwise
}

// pulls sets how many images are pulled at once. A kubelet pulls one, or with serializeImagePulls
// false any number.
func (c *conversion) pulls() {
	const many = 64
	pulls := int64(1)
	if f := c.fields["maxParallelImagePulls"]; f != nil {
		if n, ok := c.number(f); ok {
			pulls = min(n, many)
		}
	} else if !c.is("serializeImagePulls", true) {
		pulls = many
	}
	c.put("runtime.parallel_pulls", pulls)
}

// noThreshold is the value of a hard threshold that is off.
const noThreshold = "0%"

// thresholds turns off the hard thresholds that a kubelet does not have: if its configuration has the
// field, even with an empty map, the others have no default.
func (c *conversion) thresholds() {
	if !c.ownHard || c.is(mergeDefaults, false) {
		return
	}
	eviction, _ := c.keys["eviction"].(map[string]any)
	hard, _ := eviction["hard"].(map[string]any)
	if hard == nil {
		hard = map[string]any{}
	}
	for _, s := range threshold.Signals() {
		if _, is := hard[string(s)]; !is {
			hard[string(s)] = noThreshold
		}
	}
	c.put("eviction.hard", hard)
}

// listen sets where the node's API is served.
func (c *conversion) listen() {
	if port := c.value("healthzPort", "10248"); port != "0" {
		c.put("node_api.healthz_listen", c.local("healthzBindAddress", "healthzPort", port))
	}
	if port := c.value("readOnlyPort", "0"); port != "0" {
		c.put("node_api.read_only_listen", c.local("address", "readOnlyPort", port))
	}
	api, _ := c.keys["node_api"].(map[string]any)
	served := c.is("enableServer", true)
	if served && api["client_ca_file"] != nil {
		port := c.value("port", "0")
		if port == "0" {
			port = "10250"
		}
		c.put("node_api.listen", net.JoinHostPort(c.value("address", "0.0.0.0"), port))
		return
	}
	for _, key := range []string{"cert_file", "key_file", "client_ca_file", "server_tls_bootstrap", "system_logs"} {
		delete(api, key)
	}
	if served {
		c.warnings = append(c.warnings, strict.Error{File: c.first, Message: "the API of the node is not served over HTTPS: that needs authentication.x509.clientCAFile"})
	}
}

// local returns the address of a port that only this machine may reach. A field that says otherwise is
// a warning.
func (c *conversion) local(address, name, port string) string {
	host := c.value(address, "127.0.0.1")
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return net.JoinHostPort(host, port)
	}
	if f := c.fields[name]; f != nil {
		c.warn(f, "is served on 127.0.0.1 only, because clients need no credentials there")
	} else if f := c.fields[address]; f != nil {
		c.warn(f, "is served on 127.0.0.1 only, because clients need no credentials there")
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// maxPods sets the number of pods; 0 is a kubelet's default, which is the agent's, too.
func maxPods(c *conversion, f *field) {
	if value, ok := c.number(f); ok && value != 0 {
		c.put("node.max_pods", value)
	}
}
