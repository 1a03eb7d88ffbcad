package privateruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// machine is the state of the machine before the first runtime, as far as runtimes share it: the
// last runtime restores it. It is stored in machine.json in runDir and guarded by the machine's
// lock.
type machine struct {
	Forwarding string   `json:"ip_forward"`
	Cgroups    []string `json:"cgroups"`
	Chains     []string `json:"chains"`
	Tables     []string `json:"tables"`
	Missing    []string `json:"missing_dirs"`
	// Made are the traces of removed runtimes while others still run.
	Made traces `json:"made"`
}

const (
	machineFile    = runDir + "/machine.json"
	forwardingFile = "/proc/sys/net/ipv4/ip_forward"
)

// sharedDirs returns the directories that containerd and CNI make regardless of their
// configuration, the innermost first. They include runc's own directory, because cleaning up after
// an interrupted start may run runc without the options.
func sharedDirs() []string {
	return []string{
		cacheDir, "/var/lib/cni", "/run/containerd/runc/k8s.io", "/run/containerd/runc", "/run/containerd/s", "/run/containerd/fifo",
		"/run/containerd", "/opt/containerd",
	}
}

// recordMachine records the state of the machine, unless another runtime has recorded it before.
func recordMachine(ctx context.Context) (machine, error) {
	known, err := readMachine()
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return known, err
	}
	forwarding, err := os.ReadFile(forwardingFile)
	if err != nil {
		return machine{}, fmt.Errorf("read IPv4 forwarding: %w", err)
	}
	tables, err := saveRules(ctx)
	if err != nil {
		return machine{}, err
	}
	cgroups, err := topCgroups()
	if err != nil {
		return machine{}, err
	}
	now := machine{
		Forwarding: strings.TrimSpace(string(forwarding)), Cgroups: cgroups,
		Chains: findSharedChains(tables), Tables: listTables(ctx),
	}
	for _, dir := range sharedDirs() {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			now.Missing = append(now.Missing, dir)
		}
	}
	return now, writeJSON(machineFile, now)
}

func readMachine() (machine, error) {
	data, err := os.ReadFile(machineFile)
	if err != nil {
		return machine{}, fmt.Errorf("read the machine's record: %w", err)
	}
	var known machine
	if err := json.Unmarshal(data, &known); err != nil {
		return machine{}, fmt.Errorf("%s: %w; when no runtime is up, remove it", machineFile, err)
	}
	return known, nil
}

// leaveMachine restores what runtimes share if none is left. Otherwise it removes only the cgroups
// of pods that had a cgroup parent of their own, and leaves the rest to the last runtime.
func leaveMachine(ctx context.Context, made traces) error {
	known, err := readMachine()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	recorded := err == nil
	known.Made.add(made)
	names, err := listNames()
	if err != nil {
		return err
	}
	if len(names) > 0 {
		if !recorded {
			return nil
		}
		err := known.removeCgroups(ctx, func(top string) bool { return top != defaultCgroup })
		return errors.Join(err, writeJSON(machineFile, known))
	}
	if recorded {
		if err := known.restore(ctx); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(runDir); err != nil {
		return fmt.Errorf("remove %s: %w", runDir, err)
	}
	return nil
}

// restore undoes the changes that runtimes share.
func (m machine) restore(ctx context.Context) error {
	tables, err := saveRules(ctx)
	if err != nil {
		return err
	}
	failed := []error{applyRules(ctx, planSharedRemoval(tables, m.Chains)), m.removeCgroups(ctx, func(string) bool { return true })}
	removeTables(ctx, m.Tables)
	if m.Forwarding == "0" {
		if err := os.WriteFile(forwardingFile, []byte("0\n"), 0o644); err != nil {
			failed = append(failed, fmt.Errorf("put IPv4 forwarding back: %w", err))
		}
	}
	for _, dir := range m.Missing {
		// Remove removes only an empty directory: another containerd or CNI may use it by now.
		_ = os.Remove(dir)
	}
	return errors.Join(failed...)
}

// leftovers describes what differs from the recorded state; it is meaningful only if no runtime is
// up.
func (m machine) leftovers(ctx context.Context) []string {
	var left []string
	if forwarding, err := os.ReadFile(forwardingFile); err != nil || strings.TrimSpace(string(forwarding)) != m.Forwarding {
		left = append(left, forwardingFile+" is no longer "+m.Forwarding)
	}
	tables, err := saveRules(ctx)
	if err != nil {
		left = append(left, err.Error())
	}
	for _, chain := range findSharedChains(tables) {
		if !slices.Contains(m.Chains, chain) {
			left = append(left, "iptables chain "+chain)
		}
	}
	cgroups, err := topCgroups()
	if err != nil {
		left = append(left, err.Error())
	}
	for _, dir := range cgroups {
		if filepath.Base(dir) == defaultCgroup && !slices.Contains(m.Cgroups, dir) {
			left = append(left, "cgroup "+dir)
		}
	}
	for _, dir := range m.Missing {
		if _, err := os.Stat(dir); err == nil {
			left = append(left, "directory "+dir)
		}
	}
	return left
}
