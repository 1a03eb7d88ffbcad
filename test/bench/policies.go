package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// measurePolicies has test/bench/policies measure what the sandbox of policies
// costs. It says there what is measured how, and what the limits are; here they
// are judged.
func measurePolicies(ctx context.Context, r *run) ([]figure, error) {
	driver, err := r.buildPolicies(ctx)
	if err != nil {
		return nil, err
	}
	return r.drivePolicies(ctx, driver)
}

// buildPolicies builds the program in its own module.
func (r *run) buildPolicies(ctx context.Context) (string, error) {
	driver := filepath.Join(r.tools, "policies")
	fmt.Fprintln(r.progress, "building the bench of policies with cel-go and OPA; the first time that takes a minute or two")
	build := exec.CommandContext(ctx, "go", "build", "-o", driver, ".")
	build.Dir = filepath.Join(r.root, "test", "bench", "policies")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the program in %s was not built: %w\n%s", build.Dir, err, out)
	}
	return driver, nil
}

// drivePolicies runs the program and judges its figures.
func (r *run) drivePolicies(ctx context.Context, driver string) ([]figure, error) {
	cmd := exec.CommandContext(ctx, driver,
		"-root", r.root, "-dir", filepath.Join(r.root, "build", "policybench"), "-rounds", strconv.Itoa(r.rounds))
	var errs bytes.Buffer
	cmd.Stderr = io.MultiWriter(&errs, r.progress)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd.Args, err, errs.Bytes())
	}
	var figures []figure
	if err := json.Unmarshal(text, &figures); err != nil {
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	if len(figures) == 0 {
		return nil, errors.New("the bench of policies has measured nothing")
	}
	for i := range figures {
		f := &figures[i]
		f.OK = true
		if f.Limit != nil {
			*f = f.limited(atMost, *f.Limit)
		}
	}
	return figures, nil
}
