package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// leftovers looks in every place that a runtime touches.
func (i instance) leftovers(made traces, before machine) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var left []string
	note := func(format string, values ...any) { left = append(left, fmt.Sprintf(format, values...)) }
	check := func(err error) {
		if err != nil {
			note("cannot tell: %v", err)
		}
	}
	for _, find := range []func() ([]process, error){i.daemons, i.shims, i.registries} {
		found, err := find()
		check(err)
		for _, p := range found {
			note("process %d: %s", p.pid, strings.Join(p.args, " "))
		}
	}
	mounts, err := i.mounts()
	check(err)
	for _, mount := range mounts {
		note("mount %s", mount.path)
	}
	if linkExists(i.bridge()) {
		note("link %s", i.bridge())
	}
	tables, err := saveRules(ctx)
	check(err)
	if plan := planRemoval(tables, i.network()); plan != "" {
		note("iptables rules that this would remove:\n%s", plan)
	}
	files, err := i.cacheFiles()
	check(err)
	for _, file := range files {
		note("CNI cache %s", file)
	}
	dirs := append([]string{i.stateDir()}, made.Cgroups...)
	if i.MadeDir {
		dirs = append(dirs, i.Dir)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			note("directory %s", dir)
		}
	}
	if entries, err := os.ReadDir(i.Dir); err == nil && len(entries) > 0 && !i.MadeDir {
		note("%d files in %s", len(entries), i.Dir)
	}
	return append(left, sharedLeftovers(ctx, before)...)
}

// sharedLeftovers looks at what runtimes share; while one is up there is nothing to tell.
func sharedLeftovers(ctx context.Context, before machine) []string {
	if names, err := listNames(); err != nil || len(names) > 0 {
		return nil
	}
	left := before.leftovers(ctx)
	// One that came up meanwhile, in another process, is no leftover.
	if names, err := listNames(); err != nil || len(names) > 0 {
		return nil
	}
	return left
}
