package kubeletconfig

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/strict"
)

// dropInSuffix is the end of the names of drop-in files. A kubelet ignores other files, too.
const dropInSuffix = ".conf"

const (
	apiVersion = "kubelet.config.k8s.io/v1beta1"
	kind       = "KubeletConfiguration"
)

// Configuration is what the files of a kubelet's configuration say.
type Configuration struct {
	// Warnings are the fields that the agent does not honour, ordered by file and line.
	Warnings strict.Errors
	// OOMScore is the oom_score_adj of the kubelet's process, from -1000 to 1000. It is not in agent.toml:
	// there the unit file sets it.
	OOMScore int
	keys     map[string]any
	// origins are the fields that set keys.
	origins map[string]*field
}

// Read reads what a kubelet's command line names: the file of the configuration, and the drop-in
// files of a directory in the order of their paths. Relative paths in a file begin at its directory. A drop-in file changes the fields that it has, and
// flags win over files; maps are merged and lists are replaced, as with a kubelet. Without a kubeconfig,
// it is an error if an API server would have to decide what clients of the node's API may do. The error
// has every fault with its file and line; its type is then strict.Errors.
func Read(command *Command) (*Configuration, error) {
	paths, err := pathsOf(command.Config, command.ConfigDir)
	if err != nil {
		return nil, err
	}
	all := &document{fields: map[string]*field{}, first: cmp.Or(command.Config, commandLine), command: command, ownHard: command.Config == ""}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read the kubelet's configuration: %w", err)
		}
		all.read(path, text)
	}
	for _, f := range command.fields {
		switch {
		case f.name == hardThresholds:
			all.removeHard()
		case tables[f.name]: // its entries follow, and replace those of files
			all.remove(f.name)
		default:
			all.fields[f.name] = f
		}
	}
	if err := errors.Join(all.absolutePaths(), command.absolutePaths()); err != nil {
		return nil, err
	}
	c, err := all.convert()
	if err != nil {
		return nil, err
	}
	c.place(command)
	c.Warnings = append(c.Warnings, command.warnings...)
	slices.SortStableFunc(c.Warnings, order)
	return c, nil
}

// Parse is Read for the text of one file. path is its name in errors and warnings.
func Parse(path string, text []byte) (*Configuration, error) {
	d := &document{fields: map[string]*field{}, first: path}
	d.read(path, text)
	return d.convert()
}

// pathFields are the fields whose relative paths begin at the directory of their file.
var pathFields = []string{"staticPodPath", "podLogsDir", "resolvConf", "tlsCertFile", "tlsPrivateKeyFile", "authentication.x509.clientCAFile"}

// absolutePaths makes the paths of files absolute: an agent.toml is elsewhere.
func (d *document) absolutePaths() error {
	for _, name := range pathFields {
		f := d.fields[name]
		if f == nil || f.node.Kind != yaml.ScalarNode || f.node.Value == "" || f.blank() || filepath.IsAbs(f.node.Value) {
			continue
		}
		path := f.node.Value
		if !strings.HasPrefix(f.file, commandLine) {
			path = filepath.Join(filepath.Dir(f.file), path)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("the path %s of the kubelet's configuration begins at no directory: %w", name, err)
		}
		absolute := *f.node // an alias may share it
		absolute.Value = path
		f.node = &absolute
	}
	return nil
}

// absolutePaths makes the paths of flags absolute. They begin at the working directory.
func (c *Command) absolutePaths() error {
	for _, path := range []*string{&c.Kubeconfig, &c.BootstrapKubeconfig, &c.RootDir, &c.CertDir, &c.providerConfig, &c.providerBinDir} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("the path %s of the kubelet's flags begins at no directory: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

// pathsOf returns the paths of the configuration and of its drop-in files, in a kubelet's order: that
// of their paths.
func pathsOf(path, dropIns string) ([]string, error) {
	var paths []string
	if path != "" {
		paths = append(paths, path)
	}
	if dropIns == "" {
		return paths, nil
	}
	err := filepath.WalkDir(dropIns, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == dropInSuffix {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the drop-in directory of the kubelet's configuration: %w", err)
	}
	return paths, nil
}

// place adds what a kubelet has as flags only.
func (c *Configuration) place(command *Command) {
	into := &conversion{keys: c.keys}
	for _, k := range []struct{ key, value string }{
		{"paths.pod_root", command.RootDir},
		{"paths.cert_dir", command.CertDir},
		{"node_name", command.hostname},
		{"runtime.credential_provider_config", command.providerConfig},
		{"runtime.credential_provider_bin_dir", command.providerBinDir},
	} {
		if k.value != "" {
			into.put(k.key, k.value)
		}
	}
	if command.Kubeconfig != "" {
		into.put("cluster.kubeconfig", command.Kubeconfig)
	}
	for _, k := range []struct{ key, value, flag string }{
		{"cluster.node_ip", command.nodeIP, "--node-ip"},
		{"cluster.bootstrap_kubeconfig", command.BootstrapKubeconfig, "--bootstrap-kubeconfig"},
	} {
		switch {
		case k.value == "":
		case command.Kubeconfig == "":
			c.Warnings = append(c.Warnings, strict.Error{File: commandLine, Key: k.flag, Message: needsCluster})
		default:
			into.put(k.key, k.value)
		}
	}
	if labels := parted([]string{command.nodeLabels}); len(labels) > 0 {
		into.put("node.labels", labels)
	}
}

// Locate returns the faults of a configuration that was made from c, at the fields that cause them,
// ordered by file and line. It leaves out those of keys that no field has set.
func (c *Configuration) Locate(faults strict.Errors) strict.Errors {
	var located strict.Errors
	for _, fault := range faults {
		for key := fault.Key; key != ""; key = key[:max(strings.LastIndexAny(key, ".["), 0)] {
			if f := c.origins[key]; f != nil {
				located = append(located, strict.Error{File: f.file, Line: f.node.Line, Key: f.name, Message: fault.Message})
				break
			}
		}
	}
	slices.SortStableFunc(located, order)
	return located
}

// Table returns the keys of one table of agent.toml. It is shared, and nil if the table has no key.
func (c *Configuration) Table(name string) map[string]any {
	table, _ := c.keys[name].(map[string]any)
	return table
}

// TOML returns the text of an agent.toml that says the same.
func (c *Configuration) TOML() ([]byte, error) {
	var text bytes.Buffer
	encoder := toml.NewEncoder(&text)
	encoder.Indent = ""
	if err := encoder.Encode(c.keys); err != nil {
		return nil, fmt.Errorf("write agent.toml: %w", err)
	}
	return text.Bytes(), nil
}

// field is a field of the configuration, or an entry of a map. Its name is the path to it.
type field struct {
	name string
	file string
	node *yaml.Node
}

// document is the merged content of all files.
type document struct {
	// fields are the fields by name, without those that are maps of fields.
	fields map[string]*field
	// first is the path of the first file.
	first  string
	faults strict.Errors
	// command is the command line of the kubelet; nil if there is only a file.
	command *Command
	// ownHard is true if hard thresholds without an entry have no default.
	ownHard bool
}

// hardThresholds is the field of the thresholds that have defaults.
const hardThresholds = "evictionHard"

// mergeDefaults is the field that lets hard thresholds without an entry have their defaults.
const mergeDefaults = "mergeDefaultEvictionSettings"

// remove removes a field, with its own fields or entries.
func (d *document) remove(name string) {
	maps.DeleteFunc(d.fields, func(other string, _ *field) bool { return other == name || strings.HasPrefix(other, name+".") })
}

// removeHard removes all hard thresholds, also their defaults.
func (d *document) removeHard() {
	d.remove(hardThresholds)
	d.remove(mergeDefaults)
	d.ownHard = true
}

func (d *document) fault(file string, line int, key, message string) {
	d.faults = append(d.faults, strict.Error{File: file, Line: line, Key: key, Message: message})
}

// read adds the fields of one file to those of the files before.
func (d *document) read(path string, text []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	if err := decoder.Decode(&root); err != nil {
		d.fault(path, 0, "", fmt.Sprintf("want a %s of %s: %v", kind, apiVersion, err))
		return
	}
	if decoder.Decode(&more) == nil {
		d.fault(path, more.Line, "", "there is a second document; want one")
	}
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		d.fault(path, top.Line, "", "want a "+kind)
		return
	}
	head := map[string]string{}
	for i := 0; i < len(top.Content); i += 2 {
		if name := top.Content[i].Value; name == "apiVersion" || name == "kind" {
			head[name] = top.Content[i+1].Value
		}
	}
	if head["apiVersion"] != apiVersion || head["kind"] != kind {
		d.fault(path, 0, "", fmt.Sprintf("want apiVersion %s and kind %s, found %q and %q", apiVersion, kind, head["apiVersion"], head["kind"]))
		return
	}
	d.add(path, "", top)
}

// add adds the fields of a mapping whose own name is prefix. A kubelet sets the defaults of hard
// thresholds after the first file, and applies the others as merge patches.
func (d *document) add(path, prefix string, mapping *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], resolve(mapping.Content[i+1])
		name := key.Value
		if prefix != "" {
			name = prefix + "." + name
		}
		switch {
		case seen[name]:
			d.fault(path, key.Line, name, "the field is there twice")
		case value.Tag == "!!null" && path != d.first && name == hardThresholds:
			d.removeHard()
		case value.Tag == "!!null" && path != d.first && parent(name) == hardThresholds && threshold.DefaultHard()[key.Value] != "":
			d.fields[name] = &field{name: name, file: path, node: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: noThreshold, Line: key.Line}}
		case value.Tag == "!!null":
			d.remove(name)
		case value.Kind == yaml.MappingNode && tables[name]:
			d.ownHard = d.ownHard || path == d.first && name == hardThresholds
			d.add(path, name, value)
		case tables[name]:
			d.fault(path, key.Line, name, fmt.Sprintf("want a map, found %q", value.Value))
		default:
			d.fields[name] = &field{name: name, file: path, node: value}
		}
		seen[name] = true
	}
}

// resolve returns the node that an alias stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// convert applies the rule of each field.
func (d *document) convert() (*Configuration, error) {
	c := &conversion{document: d, keys: map[string]any{}, period: map[string]string{}, origins: map[string]*field{}, oomScore: DefaultOOMScore}
	for _, name := range slices.Sorted(maps.Keys(d.fields)) {
		f := d.fields[name]
		c.now = f
		rule, known := rules[name]
		if !known {
			rule, known = rules[parent(name)+".*"]
		}
		switch {
		case name == "apiVersion" || name == "kind":
		case !known:
			c.refuse(f, "is no field of "+apiVersion)
		default:
			rule(c, f)
		}
	}
	c.now = nil
	c.complete()
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, order)
		return nil, d.faults
	}
	slices.SortStableFunc(c.warnings, order)
	return &Configuration{Warnings: c.warnings, OOMScore: c.oomScore, keys: c.keys, origins: c.origins}, nil
}

func order(a, b strict.Error) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}
