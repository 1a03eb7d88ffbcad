package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// measurement is what one run prints.
type measurement struct {
	Side string `json:"side"`
	Load string `json:"load"`
	Pods int    `json:"pods"`
	// Nanoseconds is the median of a change, or the time of the snapshot.
	Nanoseconds int64 `json:"nanoseconds"`
	// Bytes and Allocations are the allocations per change, or of the snapshot.
	Bytes       uint64 `json:"bytes"`
	Allocations uint64 `json:"allocations"`
	// PeakResident is the growth of the process, PeakHeap the growth of Go's heap, and Retained the
	// heap memory that is still in use at the end. All are in bytes, and only set for a snapshot.
	PeakResident uint64 `json:"peakResident,omitempty"`
	PeakHeap     uint64 `json:"peakHeap,omitempty"`
	Retained     uint64 `json:"retained,omitempty"`
}

// changes measures n changes of one pod each. Before that it makes changes to warm up, as many as
// there is time for.
func (m *measurement) changes(a agent, pods []*v1.Pod, n int) error {
	if _, err := a.begin(); err != nil {
		return err
	}
	warm := min(n, 100)
	versions := make([]*v1.Pod, warm+n)
	for i := range versions {
		versions[i] = changed(pods[i%len(pods)], i)
	}
	took := make([]time.Duration, 0, n)
	var before, after runtime.MemStats
	for i, p := range versions {
		if i == warm {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		begun := time.Now()
		got, err := a.change(i%len(pods), p)
		end := time.Since(begun)
		if err != nil {
			return err
		}
		if got.UID != p.UID || got.Spec.Containers[0].Image != p.Spec.Containers[0].Image {
			return fmt.Errorf("change %d came as another", i)
		}
		if i >= warm {
			took = append(took, end)
		}
	}
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	m.Nanoseconds = took[len(took)/2].Nanoseconds()
	m.Bytes = (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	m.Allocations = (after.Mallocs - before.Mallocs) / uint64(n)
	return nil
}

// snapshot measures the first snapshot.
func (m *measurement) snapshot(a agent) error {
	var before, after runtime.MemStats
	debug.FreeOSMemory()
	runtime.ReadMemStats(&before)
	resident, err := resetPeak()
	if err != nil {
		return err
	}
	begun := time.Now()
	pods, err := a.begin()
	took := time.Since(begun)
	if err != nil {
		return err
	}
	peak, err := peakResident()
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	if len(pods) != m.Pods {
		return errors.New("not all pods came")
	}
	m.Nanoseconds = took.Nanoseconds()
	m.Bytes, m.Allocations = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	m.PeakResident = peak - min(peak, resident)
	m.PeakHeap = grown(before.HeapSys-before.HeapReleased, after.HeapSys-after.HeapReleased)
	runtime.GC()
	runtime.ReadMemStats(&after)
	m.Retained = grown(before.HeapAlloc, after.HeapAlloc)
	runtime.KeepAlive(pods)
	runtime.KeepAlive(a)
	return nil
}

func grown(from, to uint64) uint64 { return to - min(from, to) }
