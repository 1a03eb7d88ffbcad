package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// measureBinaries builds the agent for every architecture, the way `make build` does, and measures the files.
func measureBinaries(ctx context.Context) ([]measure, error) {
	dir, err := os.MkdirTemp("", "wardlet-size-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var lines []measure
	for _, architecture := range architectures {
		what := "binary for linux/" + architecture
		limit := int64(0)
		if architecture == limited {
			limit = maxBinary
		}
		bytes, err := build(ctx, architecture, filepath.Join(dir, architecture))
		if err != nil {
			lines = append(lines, broken(what, err))
			continue
		}
		line := measured(what, bytes, limit)
		if limit == 0 {
			line.limit = "builds"
		}
		lines = append(lines, line)
	}
	return lines, ctx.Err()
}

// build makes the binary and returns its size.
func build(ctx context.Context, architecture, binary string) (int64, error) {
	command := exec.CommandContext(ctx, "make", "-s", "--no-print-directory", "build", "GOARCH="+architecture, "WARDLET="+binary)
	// The variables of the make that runs this program are not passed on.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}, name)
	})
	if out, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("make build: %w: %s", err, strings.TrimSpace(string(out)))
	}
	info, err := os.Stat(binary)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
