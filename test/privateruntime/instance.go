package privateruntime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// instance is everything that a process needs to use or remove a runtime. It is stored in
// instance.json.
type instance struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	MadeDir bool   `json:"made_dir"`
	// Repository is the checkout whose programs the runtime runs.
	Repository  string       `json:"repository"`
	Subnet      netip.Prefix `json:"subnet"`
	Snapshotter string       `json:"snapshotter,omitempty"`
	Created     time.Time    `json:"created"`
	// Ready is set once images are imported and Start is about to return the runtime.
	Ready bool `json:"ready"`
}

func (i instance) network() string  { return networkName(i.Name) }
func (i instance) bridge() string   { return bridgeName(i.Name) }
func (i instance) endpoint() string { return "unix://" + i.socket() }

func instanceFile(name string) string { return filepath.Join(stateDir(name), "instance.json") }

// readInstance reads a runtime's file. If there is no such runtime, errors.Is(err, fs.ErrNotExist)
// is true.
func readInstance(name string) (instance, error) {
	data, err := os.ReadFile(instanceFile(name))
	if err != nil {
		return instance{}, fmt.Errorf("runtime %s: %w", name, err)
	}
	return decodeInstance(name, data)
}

func decodeInstance(name string, data []byte) (instance, error) {
	var read instance
	if err := json.Unmarshal(data, &read); err != nil {
		return instance{}, fmt.Errorf("runtime %s: %s: %w", name, instanceFile(name), err)
	}
	if read.Name != name || !filepath.IsAbs(read.Dir) || !read.Subnet.IsValid() {
		return instance{}, fmt.Errorf("runtime %s: %s names %q, directory %q, subnet %q: not a file of this runtime",
			name, instanceFile(name), read.Name, read.Dir, read.Subnet)
	}
	return read, nil
}

// write replaces the runtime's file atomically.
func (i instance) write() error {
	return writeJSON(instanceFile(i.Name), i)
}

// writeJSON writes a value to a file atomically, so that a reader sees either the old or the new
// content.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// listNames returns the names of all runtimes of the machine, also those whose file is missing or
// incomplete.
func listNames() ([]string, error) {
	entries, err := os.ReadDir(runDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runtimes: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && checkName(entry.Name()) == nil {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Status describes a runtime of the machine.
type Status struct {
	Name string
	// Endpoint is the CRI endpoint, unix:///....
	Endpoint string
	Dir      string
	Subnet   string
	// Repository is the checkout from which the runtime was started.
	Repository string
	// PID is containerd's process; 0 if containerd is dead.
	PID int
	// Ready reports whether the runtime has started completely; it is false during the start, and
	// after an interrupted start.
	Ready bool
}

// List returns all runtimes of the machine, by name.
func List() ([]Status, error) {
	names, err := listNames()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, name := range names {
		known, err := readInstance(name)
		if err != nil {
			all = append(all, Status{Name: name})
			continue
		}
		running, err := known.daemons()
		if err != nil {
			return nil, err
		}
		status := Status{
			Name: name, Endpoint: known.endpoint(), Dir: known.Dir, Subnet: known.Subnet.String(),
			Repository: known.Repository, Ready: known.Ready,
		}
		if len(running) > 0 {
			status.PID = running[0].pid
		}
		all = append(all, status)
	}
	return all, nil
}
