package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
)

// ErrRunning reports that a runtime of the name is already up.
var ErrRunning = errors.New("a runtime of this name is up already")

// readyTimeout limits how long a runtime may take to start; it takes about a second.
const readyTimeout = 60 * time.Second

// Start starts a runtime and returns once it can run pods from the local images. It first removes a
// dead runtime of the same name; if that runtime is alive, it returns ErrRunning. If Start fails,
// nothing is left.
func Start(ctx context.Context, options Options) (*Runtime, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a private runtime needs root: run this as root, or with sudo -E")
	}
	found, err := findPrograms()
	if err != nil {
		return nil, fmt.Errorf("start a private runtime: %w", err)
	}
	options, err = options.complete(found.repository)
	if err != nil {
		return nil, err
	}
	// This waits for the lock, which another start of the same name may hold.
	if _, err := down(ctx, options.Name, true); err != nil {
		return nil, err
	}
	claimed, before, held, err := claim(ctx, options, found.repository)
	if err != nil {
		return nil, fmt.Errorf("start runtime %s: %w", options.Name, err)
	}
	started := &Runtime{instance: claimed, programs: found, before: before}
	err = started.bringUp(ctx)
	if err == nil {
		held.release()
		return started, nil
	}
	err = fmt.Errorf("start runtime %s: %w\nthe end of containerd's log:\n%s", options.Name, err, claimed.logTail(20))
	held.release()
	// The caller's context may have ended; everything is removed nevertheless.
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), downTimeout)
	defer cancel()
	return nil, errors.Join(err, started.Stop(cleaning))
}

// claim makes the runtime's directories, so that no other runtime gets its name or subnet, and
// returns with its lock held.
func claim(ctx context.Context, options Options, repository string) (claimed instance, before machine, held lock, err error) {
	shared, err := lockMachine(ctx)
	if err != nil {
		return instance{}, machine{}, lock{}, err
	}
	defer shared.release()
	if before, err = recordMachine(ctx); err != nil {
		return instance{}, machine{}, lock{}, err
	}
	claimed, held, err = makeInstance(ctx, options, repository)
	if err != nil {
		// Without a runtime the record of the machine is useless.
		return instance{}, machine{}, lock{}, errors.Join(err, leaveMachine(ctx, traces{}))
	}
	return claimed, before, held, nil
}

// makeInstance chooses a subnet and makes the runtime's directories, with its lock held. The machine's lock must be held.
func makeInstance(ctx context.Context, options Options, repository string) (instance, lock, error) {
	used, err := usedSubnets()
	if err != nil {
		return instance{}, lock{}, err
	}
	subnet, err := chooseSubnet(used)
	if err != nil {
		return instance{}, lock{}, err
	}
	claimed := instance{Name: options.Name, Dir: options.Dir, Repository: repository, Subnet: subnet, Created: time.Now().UTC()}
	held, err := claimed.makeStateDir(ctx)
	if err != nil {
		return instance{}, lock{}, err
	}
	if claimed.MadeDir, err = claimed.emptyDir(options.reclaim); err == nil {
		err = claimed.write()
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(claimed.stateDir()))
		held.release()
		return instance{}, lock{}, err
	}
	return claimed, held, nil
}

// makeStateDir makes the runtime's directory in runDir. It locks the directory before it renames it
// to its final name. Otherwise another process that starts the same name could take the directory
// for that of a dead runtime. If the name is taken, it returns ErrRunning.
func (i instance) makeStateDir(ctx context.Context) (lock, error) {
	fresh := filepath.Join(runDir, ".new")
	if err := os.RemoveAll(fresh); err != nil {
		return lock{}, fmt.Errorf("make the runtime's directory: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return lock{}, fmt.Errorf("make the runtime's directory: %w", err)
	}
	held, err := lockPath(ctx, fresh, os.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return lock{}, err
	}
	err = unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, i.stateDir(), unix.RENAME_NOREPLACE)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %w", ErrRunning, err)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(fresh))
		held.release()
		return lock{}, err
	}
	return held, nil
}

// emptyDir makes the runtime's directory, or accepts an empty one; made reports which. If reclaim
// is set, the directory is this package's own: its content was left by a runtime whose state is
// gone, for example after a reboot.
func (i instance) emptyDir(reclaim bool) (made bool, err error) {
	entries, err := os.ReadDir(i.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, os.MkdirAll(i.Dir, 0o755)
	}
	if err != nil {
		return false, fmt.Errorf("read the runtime's directory: %w", err)
	}
	if len(entries) > 0 && !reclaim {
		return false, fmt.Errorf("the runtime's directory %s is not empty: name another, or remove what is in it", i.Dir)
	}
	if err := i.unmountAll(); err != nil {
		return false, err
	}
	return reclaim, i.clearDir()
}

// bringUp writes the configuration, starts containerd and imports the images.
func (r *Runtime) bringUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := r.instance.prepare(r.programs); err != nil {
		return err
	}
	if err := r.instance.allowForwarding(ctx); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	err := r.instance.withConnection(func(connection *grpc.ClientConn) error {
		return importArchives(ctx, r.instance, r.programs.ctr, r.programs.archives, connection)
	})
	if err != nil {
		return err
	}
	r.instance.Ready = true
	return r.instance.write()
}

// prepare writes everything that containerd reads into the runtime's directories.
func (i *instance) prepare(found programs) error {
	for _, dir := range []string{i.networks(), i.shimSockets(), i.registryHosts(), i.temporary()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the runtime's directories: %w", err)
		}
	}
	var err error
	if i.Snapshotter, err = chooseSnapshotter(i.Dir); err != nil {
		return err
	}
	if err := i.write(); err != nil {
		return err
	}
	config, err := renderConfig(*i, found.runc, found.cni, !appArmorUsable())
	if err != nil {
		return err
	}
	network, err := renderNetwork(*i)
	if err != nil {
		return err
	}
	if err := os.WriteFile(i.configFile(), []byte(config), 0o600); err != nil {
		return fmt.Errorf("write containerd's configuration: %w", err)
	}
	if err := os.WriteFile(i.networks()+"/10-wardlet.conflist", network, 0o600); err != nil {
		return fmt.Errorf("write the CNI network: %w", err)
	}
	return nil
}
