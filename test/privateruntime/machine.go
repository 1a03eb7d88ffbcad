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

// machine is how the machine was before the first runtime, for whatever runtimes share: the last one puts it back. It is
// kept in machine.json in runDir and guarded by the machine's lock.
type machine struct {
	Forwarding string   `json:"ip_forward"`
	Cgroups    []string `json:"cgroups"`
	Chains     []string `json:"chains"`
	Tables     []string `json:"tables"`
	Missing    []string `json:"missing_dirs"`
	// Made are the traces of runtimes that are gone while others live.
	Made traces `json:"made"`
}

const (
	machineFile    = runDir + "/machine.json"
	forwardingFile = "/proc/sys/net/ipv4/ip_forward"
)

// sharedDirs are directories that containerd and CNI make whatever their configuration, the innermost first. A start that was
// cut off may be cleaned up with no options at hand, and with runc's own directory then.
func sharedDirs() []string {
	return []string{
		cacheDir, "/var/lib/cni", "/run/containerd/runc/k8s.io", "/run/containerd/runc", "/run/containerd/s", "/run/containerd/fifo",
		"/run/containerd", "/opt/containerd",
	}
}

// recordMachine records how the machine is, unless a runtime that lives recorded it before.
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

// leaveMachine puts back what runtimes share if none is left. Otherwise it removes the cgroups of pods that were given a
// parent of their own, and leaves the rest to the last runtime.
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

// restore undoes what the runtimes changed together.
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
		// Only an empty directory goes: another containerd or CNI may use it by now.
		_ = os.Remove(dir)
	}
	return errors.Join(failed...)
}

// leftovers tells what is not as it was; only meaningful when no runtime is up.
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
