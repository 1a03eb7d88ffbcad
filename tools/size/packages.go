package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// agentPackage is the package of the agent.
const agentPackage = "./cmd/agent"

// measurePackages looks for forbidden packages among all dependencies of the agent.
func measurePackages(ctx context.Context) (measure, error) {
	command := exec.CommandContext(ctx, "go", "list", "-deps", agentPackage)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	out, err := command.Output()
	if err != nil {
		return measure{}, fmt.Errorf("list the packages of %s: %w", agentPackage, err)
	}
	packages := strings.Fields(string(out))
	line := measure{what: "forbidden packages of " + strconv.Itoa(len(packages)), value: "none", limit: "none"}
	if found := findForbidden(packages); len(found) > 0 {
		line.value, line.missed = strings.Join(found, " "), true
	}
	return line, nil
}

func findForbidden(packages []string) []string {
	var found []string
	for _, name := range packages {
		for _, root := range forbidden {
			if name == root || strings.HasPrefix(name, root+"/") {
				found = append(found, name)
			}
		}
	}
	return found
}

// measureModules counts the modules that are linked into the agent, and among them the modules that
// go.mod requires directly.
func measureModules(ctx context.Context, wardlet string) ([]measure, error) {
	info, err := buildinfo.ReadFile(wardlet)
	if err != nil {
		return nil, fmt.Errorf("read what %s was built from: %w", wardlet, err)
	}
	out, err := exec.CommandContext(ctx, "go", "mod", "edit", "-json").Output()
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	wanted, err := parseDirect(out)
	if err != nil {
		return nil, err
	}
	direct := 0
	for _, module := range info.Deps {
		if wanted[module.Path] {
			direct++
		}
	}
	return []measure{
		{what: "modules linked, direct", value: strconv.Itoa(direct)},
		{what: "modules linked, all", value: strconv.Itoa(len(info.Deps))},
	}, nil
}

// parseDirect returns the modules that go.mod, as JSON, requires directly.
func parseDirect(goMod []byte) (map[string]bool, error) {
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(goMod, &file); err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	direct := map[string]bool{}
	for _, module := range file.Require {
		if !module.Indirect {
			direct[module.Path] = true
		}
	}
	return direct, nil
}
