package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// PageSizes returns the sizes of huge pages that the kernel has, in bytes, the smallest first.
func PageSizes() ([]int64, error) { return pageSizes("/") }

func pageSizes(root string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(root, pagesDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the sizes of huge pages: %w", err)
	}
	var sizes []int64
	for _, entry := range entries {
		var kib int64
		if _, err := fmt.Sscanf(entry.Name(), pagesOf, &kib); err == nil && kib > 0 {
			sizes = append(sizes, kib<<10)
		}
	}
	slices.Sort(sizes)
	return sizes, nil
}

// pagesDir has a directory for each size of huge pages, whose name is pagesOf with the size in KiB.
const pagesDir, pagesOf = "sys/kernel/mm/hugepages", "hugepages-%dkB"

// hugePages returns the huge pages of a machine in bytes, by resource, and their sum.
func hugePages(root string) (pages v1.ResourceList, sum int64, err error) {
	sizes, err := pageSizes(root)
	if err != nil {
		return nil, 0, err
	}
	pages = v1.ResourceList{}
	for _, size := range sizes {
		n, err := number(filepath.Join(root, pagesDir, fmt.Sprintf(pagesOf, size>>10), "nr_hugepages"))
		if err != nil {
			return nil, 0, fmt.Errorf("read the number of huge pages: %w", err)
		}
		name := v1.ResourceHugePagesPrefix + resource.NewQuantity(size, resource.BinarySI).String()
		pages[v1.ResourceName(name)] = *resource.NewQuantity(n*size, resource.BinarySI)
		sum += n * size
	}
	return pages, sum, nil
}

// setHugePages limits the huge pages in the cgroup of a pod, in bytes by page size. Pages of other
// sizes cannot be used in it. limit is the last part of the names of the limits. What the kernel has
// no limit for stays as it is.
func (f files) setHugePages(dir, limit string, pages map[int64]int64) error {
	sizes, err := pageSizes(f.root)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		name := strings.Join([]string{"hugetlb", pod.PageSizeName(size), limit}, ".")
		if !exists(filepath.Join(dir, name)) {
			continue
		}
		if err := f.set(dir, name, strconv.FormatInt(pages[size], 10)); err != nil {
			return err
		}
	}
	return nil
}
