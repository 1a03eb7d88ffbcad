package kubeletconfig

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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

func text(key string) rule {
	return func(c *conversion, f *field) {
		var value string
		if f.node.Tag != "!!str" || f.node.Decode(&value) != nil {
			c.wrong(f, "a string")
			return
		}
		c.put(key, value)
	}
}

func boolean(key string) rule {
	return func(c *conversion, f *field) {
		var value bool
		if f.node.Decode(&value) != nil {
			c.wrong(f, "true or false")
			return
		}
		c.put(key, value)
	}
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

func decimal(key string) rule {
	return func(c *conversion, f *field) {
		var value float64
		if f.node.Decode(&value) != nil {
			c.wrong(f, "a number")
			return
		}
		c.put(key, value)
	}
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
	if dir := f.node.Value; filepath.Base(dir) == "pods" && filepath.IsAbs(dir) {
		c.put("paths.log_root", filepath.Dir(dir))
		return
	}
	c.wrong(f, "an absolute path of a directory with the name pods")
}

func imageService(c *conversion, f *field) {
	if other := c.fields["containerRuntimeEndpoint"]; f.node.Value != "" && (other == nil || other.node.Value != f.node.Value) {
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
	c.pulls()
	c.thresholds()
	c.listen()
}

// value returns the value of a field, or its default.
func (c *conversion) value(name, otherwise string) string {
	if f := c.fields[name]; f != nil && f.node.Value != "" {
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
	} else if c.value("serializeImagePulls", "true") == "false" {
		pulls = many
	}
	c.put("runtime.parallel_pulls", pulls)
}

// thresholds sets the hard thresholds that a kubelet does not have: if its configuration has one, the
// others have no default.
func (c *conversion) thresholds() {
	eviction, _ := c.keys["eviction"].(map[string]any)
	hard, _ := eviction["hard"].(map[string]any)
	if hard == nil || c.value("mergeDefaultEvictionSettings", "false") == "true" {
		return
	}
	for _, s := range threshold.Signals() {
		if _, is := hard[string(s)]; !is {
			hard[string(s)] = "0%"
		}
	}
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
	if c.value("enableServer", "true") == "true" && api["client_ca_file"] != nil {
		c.put("node_api.listen", net.JoinHostPort(c.value("address", "0.0.0.0"), c.value("port", "10250")))
		return
	}
	for _, key := range []string{"cert_file", "key_file", "client_ca_file", "server_tls_bootstrap", "system_logs"} {
		delete(api, key)
	}
	if c.value("enableServer", "true") == "true" {
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
