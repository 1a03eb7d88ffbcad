package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// resetPeak resets the kernel's record of the highest resident memory, and returns the current
// resident memory in bytes.
func resetPeak() (uint64, error) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("the peak of resident memory cannot be reset: %w", err)
	}
	return statusLine("VmRSS:")
}

// peakResident returns the highest resident memory since resetPeak, in bytes.
func peakResident() (uint64, error) { return statusLine("VmHWM:") }

func statusLine(name string) (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	fields := bytes.Fields(rest)
	if len(fields) < 2 || string(fields[1]) != "kB" {
		return 0, fmt.Errorf("/proc/self/status has no line %s in kB", name)
	}
	kilobytes, err := strconv.ParseUint(string(fields[0]), 10, 64)
	return kilobytes * 1024, err
}
