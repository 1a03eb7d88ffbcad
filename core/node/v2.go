package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/core/internal/cpu"
)

// hierarchyV2 is the one cgroup hierarchy of version 2.
type hierarchyV2 struct {
	files

	point string
	// pids reports whether the kernel offers the controller pids.
	pids bool
}

// wantedV2 are the controllers that are delegated to pods. neededV2 are those without which the
// limits of pods would not be enforced.
var (
	neededV2 = []string{"cpu", "memory"}
	wantedV2 = []string{"cpu", "memory", "cpuset", "hugetlb", "io", "pids"}
)

func (h hierarchyV2) points() []string { return []string{h.point} }

func (h hierarchyV2) mount(string) string { return h.point }

func (h hierarchyV2) create(path string) error {
	for _, dir := range levels(h.point, path) {
		if err := h.delegate(filepath.Dir(dir)); err != nil {
			return err
		}
		if err := h.ensure(dir); err != nil {
			return err
		}
	}
	return nil
}

func (h hierarchyV2) stop(string) error { return nil }

func (h hierarchyV2) has(path string) bool { return exists(filepath.Join(h.point, path)) }

// delegate enables the controllers of a cgroup for its children.
func (h hierarchyV2) delegate(dir string) error {
	available, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read a cgroup: %w", err)
	}
	delegated, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return fmt.Errorf("read a cgroup: %w", err)
	}
	for _, controller := range wantedV2 {
		needed := slices.Contains(neededV2, controller)
		switch {
		case slices.Contains(strings.Fields(string(delegated)), controller):
		case slices.Contains(strings.Fields(string(available)), controller):
			err := h.set(dir, "cgroup.subtree_control", "+"+controller)
			if err != nil && needed {
				return fmt.Errorf("%w; does a process live in %s itself? then choose another cgroup_root", err, dir)
			}
		case needed:
			return fmt.Errorf("cgroup %s has no %s controller: choose a cgroup_root to which it is delegated", dir, controller)
		}
	}
	return nil
}

func (h hierarchyV2) limit(path string, l limits) error {
	if err := h.setShares(path, l.shares); err != nil {
		return err
	}
	dir := filepath.Join(h.point, path)
	if err := h.set(dir, "cpu.max", fmt.Sprintf("%s %d", orNone(l.quota, "max"), cpu.Period)); err != nil {
		return err
	}
	if err := h.set(dir, "memory.max", orNone(l.memory, "max")); err != nil {
		return err
	}
	return h.setPIDs(dir, l.pids)
}

func (h hierarchyV2) limitPages(path string, pages map[int64]int64) error {
	return h.setHugePages(filepath.Join(h.point, path), "max", pages)
}

func (h hierarchyV2) reserve(path string, hard, soft int64) error {
	dir := filepath.Join(h.point, path)
	if err := h.set(dir, "memory.min", strconv.FormatInt(hard, 10)); err != nil {
		return err
	}
	return h.set(dir, "memory.low", strconv.FormatInt(soft, 10))
}

func (h hierarchyV2) reserved(path string) (hard, soft int64, err error) {
	dir := filepath.Join(h.point, path)
	if hard, err = number(filepath.Join(dir, "memory.min")); err != nil {
		return 0, 0, err
	}
	soft, err = number(filepath.Join(dir, "memory.low"))
	return hard, soft, err
}

func (h hierarchyV2) limitsSwap() bool {
	own, err := os.ReadFile(filepath.Join(h.root, "proc/self/cgroup"))
	if err != nil {
		return false
	}
	_, path, _ := strings.Cut(strings.TrimSpace(string(own)), "0::")
	return exists(filepath.Join(h.point, path, "memory.swap.max"))
}

func (h hierarchyV2) limitsPIDs() bool { return h.pids }

func (h hierarchyV2) setShares(path string, shares int64) error {
	return h.set(filepath.Join(h.point, path), "cpu.weight", strconv.FormatInt(cpu.Weight(shares), 10))
}

func (h hierarchyV2) shares(path string) (int64, error) {
	weight, err := number(filepath.Join(h.point, path, "cpu.weight"))
	if err != nil {
		return 0, err
	}
	return cpu.SharesOfWeight(weight), nil
}
