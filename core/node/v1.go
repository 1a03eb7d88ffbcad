package node

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/core/internal/cpu"
)

// hierarchyV1 is the cgroup hierarchies of version 1, one per controller or a few.
type hierarchyV1 struct {
	files

	// at maps a controller to its mount point.
	at map[string]string
	// unified is the v2 hierarchy of a hybrid machine, in which a runtime may create cgroups without
	// controllers; empty if there is none.
	unified string
}

func (h hierarchyV1) points() []string {
	points := h.controlled()
	if h.unified != "" {
		points = append(points, h.unified)
	}
	return points
}

// controlled returns the mount points except the unified one. Controllers may share a hierarchy.
func (h hierarchyV1) controlled() []string {
	return slices.Compact(slices.Sorted(maps.Values(h.at)))
}

func (h hierarchyV1) mount(controller string) string { return h.at[controller] }

func (h hierarchyV1) create(path string) error {
	for _, point := range h.controlled() {
		for _, dir := range levels(point, path) {
			if err := h.ensure(dir); err != nil {
				return err
			}
			if point != h.at["cpuset"] {
				continue
			}
			if err := h.inherit(dir, "cpuset.cpus"); err != nil {
				return err
			}
			if err := h.inherit(dir, "cpuset.mems"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h hierarchyV1) stop(string) error { return nil }

func (h hierarchyV1) has(path string) bool {
	return !slices.ContainsFunc(h.controlled(), func(point string) bool { return !exists(filepath.Join(point, path)) })
}

// inherit copies the parent's value to a cgroup: a new cpuset is empty and accepts no process.
func (h hierarchyV1) inherit(dir, name string) error {
	own, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("read a cgroup: %w", err)
	}
	if strings.TrimSpace(string(own)) != "" {
		return nil
	}
	parent, err := os.ReadFile(filepath.Join(filepath.Dir(dir), name))
	if err != nil {
		return fmt.Errorf("read a cgroup: %w", err)
	}
	return h.set(dir, name, strings.TrimSpace(string(parent)))
}

func (h hierarchyV1) limit(path string, l limits) error {
	if err := h.setShares(path, l.shares); err != nil {
		return err
	}
	dir := filepath.Join(h.at["cpu"], path)
	if err := h.set(dir, "cpu.cfs_period_us", strconv.Itoa(cpu.Period)); err != nil {
		return err
	}
	if err := h.set(dir, "cpu.cfs_quota_us", orNone(l.quota, "-1")); err != nil {
		return err
	}
	if err := h.set(filepath.Join(h.at["memory"], path), "memory.limit_in_bytes", orNone(l.memory, "-1")); err != nil {
		return err
	}
	if !h.limitsPIDs() {
		return nil
	}
	return h.setPIDs(filepath.Join(h.at["pids"], path), l.pids)
}

func (h hierarchyV1) limitPages(path string, pages map[int64]int64) error {
	return h.setHugePages(filepath.Join(h.at["hugetlb"], path), "limit_in_bytes", pages)
}

// reserve does nothing: Bounds.ReserveMemory needs cgroup v2.
func (h hierarchyV1) reserve(string, int64, int64) error { return nil }

func (h hierarchyV1) reserved(string) (hard, soft int64, err error) { return 0, 0, nil }

func (h hierarchyV1) limitsSwap() bool {
	return exists(filepath.Join(h.at["memory"], "memory.memsw.limit_in_bytes"))
}

func (h hierarchyV1) limitsPIDs() bool { return h.at["pids"] != "" }

func (h hierarchyV1) setShares(path string, shares int64) error {
	return h.set(filepath.Join(h.at["cpu"], path), "cpu.shares", strconv.FormatInt(shares, 10))
}

func (h hierarchyV1) shares(path string) (int64, error) {
	return number(filepath.Join(h.at["cpu"], path, "cpu.shares"))
}

// orNone formats n, or returns none for no limit.
func orNone(n int64, none string) string {
	if n == 0 {
		return none
	}
	return strconv.FormatInt(n, 10)
}
