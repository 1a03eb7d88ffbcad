package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
)

const (
	// downTimeout limits the cleanup after a failed start.
	downTimeout = 60 * time.Second
	// podPatience limits the orderly removal of pods; pods that are left afterwards are removed by
	// force.
	podPatience = 30 * time.Second
	// stopPatience is how long containerd may take to exit after SIGTERM.
	stopPatience = 10 * time.Second
)

// Down removes the runtime of a name with everything it made, whichever process started it and
// whether or not it still runs. If there is no such runtime, it returns nil. After an error it can
// be called again.
func Down(ctx context.Context, name string) error {
	_, err := down(ctx, name, false)
	return err
}

// down implements Down. If onlyDead is set, it does not remove a runtime whose containerd runs, and
// returns ErrRunning.
func down(ctx context.Context, name string, onlyDead bool) (traces, error) {
	if err := checkName(name); err != nil {
		return traces{}, err
	}
	held, err := lockInstance(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return traces{}, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return traces{}, fmt.Errorf("runtime %s is not yours; run this as root, or with sudo -E: %w", name, err)
	}
	if err != nil {
		return traces{}, err
	}
	defer held.release()
	known, err := readInstance(name)
	if err != nil {
		// instance.json is written right after the directory was made. Without it nothing was
		// started yet, and only the names are known.
		known = instance{Name: name}
	}
	if onlyDead {
		if running, err := known.daemons(); err != nil || len(running) > 0 {
			return traces{}, errors.Join(err, fmt.Errorf("runtime %s of %s: %w", name, known.Repository, ErrRunning))
		}
	}
	made, err := known.remove(ctx)
	if err != nil {
		return made, fmt.Errorf("take runtime %s away (try again; its log is %s): %w", name, known.logFile(), err)
	}
	return made, nil
}

// remove removes everything: first in order with CRI's help, as far as that is possible, then by
// force.
func (i instance) remove(ctx context.Context) (traces, error) {
	made := i.findTraces()
	failed := []error{i.stopDaemon(ctx, i.removePods(ctx))}
	failed = append(failed, i.endRest(ctx), i.deleteContainers(ctx), i.removeRules(ctx), i.unmountAll())
	failed = append(failed, i.removeLinks(ctx), i.removeCache())
	if err := errors.Join(failed...); err != nil {
		return made, err
	}
	return made, i.leave(ctx, made)
}

// removePods removes the pods through CRI. If containerd is dead and there are pods, it starts
// containerd again, and returns its daemon. It returns no error, because whatever is left is
// removed by force.
func (i instance) removePods(ctx context.Context) *daemon {
	running, err := i.daemons()
	if err != nil {
		return nil
	}
	var started *daemon
	// A containerd that was stopped by a signal would not answer.
	if err := signalAll(running, unix.SIGCONT); err != nil {
		return nil
	}
	if len(running) == 0 {
		if !i.hasPods() {
			return nil
		}
		found, err := programsIn(i.Repository)
		if err != nil {
			return nil
		}
		if started, err = startDaemon(i, found); err != nil {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, podPatience)
	defer cancel()
	if started != nil {
		// It may refuse its configuration or its database: then waiting is useless.
		defer context.AfterFunc(started.running, cancel)()
	}
	if err := i.withConnection(func(c *grpc.ClientConn) error { return removePods(ctx, c) }); err != nil {
		i.note("removing pods through CRI: " + err.Error())
	}
	return started
}

// note adds a line to containerd's log, so that it is read together with the events before it.
func (i instance) note(line string) {
	log, err := os.OpenFile(i.logFile(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	// The log is removed with the runtime; a lost note does no harm.
	_, _ = fmt.Fprintln(log, "privateruntime:", line)
	_ = log.Close()
}

// stopDaemon stops containerd, and waits for the goroutine of a daemon that removePods started.
func (i instance) stopDaemon(ctx context.Context, started *daemon) error {
	running, err := i.daemons()
	if err != nil {
		return err
	}
	return errors.Join(kill(ctx, running, stopPatience), started.wait(ctx))
}

// endRest kills shims that outlived their pods, and registries that were not stopped.
func (i instance) endRest(ctx context.Context) error {
	shims, err := i.shims()
	if err != nil {
		return err
	}
	registries, err := i.registries()
	if err != nil {
		return err
	}
	return kill(ctx, append(shims, registries...), 0)
}

// leave removes the directories and, if no other runtime is left, everything that all of them
// shared.
func (i instance) leave(ctx context.Context, made traces) error {
	shared, err := lockMachine(ctx)
	if err != nil {
		return err
	}
	defer shared.release()
	if err := i.removeDirs(); err != nil {
		return err
	}
	return leaveMachine(ctx, made)
}

// removeDirs removes the runtime's directories. It removes instance.json last, so that a failed
// Down can be repeated.
func (i instance) removeDirs() error {
	if i.Dir != "" {
		if err := i.clearDir(); err != nil {
			return err
		}
		if i.MadeDir {
			if err := os.Remove(i.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the runtime's directory: %w", err)
			}
		}
	}
	if err := os.RemoveAll(i.stateDir()); err != nil {
		return fmt.Errorf("remove the runtime's state: %w", err)
	}
	return nil
}

// clearDir removes everything in the runtime's directory.
func (i instance) clearDir() error {
	entries, err := os.ReadDir(i.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear the runtime's directory: %w", err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(i.Dir, entry.Name())); err != nil {
			return fmt.Errorf("clear the runtime's directory: %w", err)
		}
	}
	return nil
}

// leftovers returns what is left in any place that a runtime changes.
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

// sharedLeftovers checks the places that runtimes share; while a runtime is up it returns nothing.
func sharedLeftovers(ctx context.Context, before machine) []string {
	if names, err := listNames(); err != nil || len(names) > 0 {
		return nil
	}
	left := before.leftovers(ctx)
	// A runtime that another process has started meanwhile is not a leftover.
	if names, err := listNames(); err != nil || len(names) > 0 {
		return nil
	}
	return left
}

// traces are what the containers of a runtime made outside its directories. They do not contain its
// name: only the containers' own records, which are removed with them, say which runtime they
// belong to.
type traces struct {
	// Cgroups are the directories of the containers' cgroups, in every hierarchy.
	Cgroups []string `json:"cgroups,omitempty"`
}

// add merges other traces into these.
func (t *traces) add(other traces) {
	t.Cgroups = append(t.Cgroups, other.Cgroups...)
	slices.Sort(t.Cgroups)
	t.Cgroups = slices.Compact(t.Cgroups)
}

// findTraces reads the records of the existing containers. A container that exits meanwhile removes
// its cgroups itself.
func (i instance) findTraces() traces {
	var found traces
	ids, err := i.containers()
	if err != nil {
		return found
	}
	for _, id := range ids {
		if paths, err := containerCgroups(i.runcRoot(), id); err == nil {
			found.add(traces{Cgroups: paths})
		}
	}
	return found
}
