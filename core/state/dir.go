package state

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/wardlet/wardlet/core/state/decisions"
	"github.com/wardlet/wardlet/core/state/durable"
)

const (
	lockFile         = "lock"
	schemaFile       = "schema.json"
	installationFile = "installation.json"
	nodeFile         = "node.json"
	documentsDir     = "documents"
	quarantineDir    = "quarantine"
)

// Dir is a state directory that is locked for this process.
type Dir struct {
	path         string
	log          *slog.Logger
	lock         *os.File
	fs           durable.Filesystem
	installation string
	made         bool
	// copy is the second copy of the node's identity, nil for none.
	copy *identityCopy
	// lost: documents of an earlier process exist no more or cannot be read.
	lost atomic.Bool
}

// Open makes the directory if it is missing, or checks that it belongs to the agent. It locks the
// directory against other agents, and makes the installation ID at the first start. Open fails if a
// newer agent wrote the state. It also fails if the second copy has another installation ID or
// belongs to another agent, or if the second copy cannot be used and the state has no installation
// ID.
func Open(path string, log *slog.Logger, options ...Option) (*Dir, error) {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = durable.OwnDir(path)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", path, err)
	}
	lock, err := lockDir(path)
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", path, err)
	}
	d := &Dir{path: path, log: log, lock: lock, fs: durable.OS{}}
	for _, option := range options {
		option(d)
	}
	if err := d.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("state directory %s: %w", path, err), d.Close())
	}
	return d, nil
}

// Close unlocks the directory.
func (d *Dir) Close() error { return errors.Join(d.copy.close(), d.lock.Close()) }

// Path returns the path of the directory.
func (d *Dir) Path() string { return d.path }

// Installation returns the installation ID, 32 hexadecimal digits. Everything that this agent
// creates is labelled with it.
func (d *Dir) Installation() string { return d.installation }

// New reports whether the installation ID was made when the directory was opened: no pod that runs
// has it yet.
func (d *Dir) New() bool { return d.made }

// SecondCopy returns the reason why the agent runs without a second copy of the node's identity. It
// returns nil if there is a second copy, or none was requested.
func (d *Dir) SecondCopy() error { return d.copy.broken() }

// lockDir locks the directory until the file is closed or the process ends.
func lockDir(path string) (*os.File, error) {
	name := filepath.Join(path, lockFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := os.ReadFile(name)
		err = fmt.Errorf("another agent uses it, process %s: stop that one, or name another state_root", strings.TrimSpace(string(holder)))
	}
	if err == nil {
		// The PID is for users and for the error above. The kernel holds the lock.
		err = errors.Join(f.Truncate(0), writePID(f))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	return err
}

func (d *Dir) prepare() error {
	if err := durable.OwnDir(filepath.Join(d.path, quarantineDir)); err != nil {
		return fmt.Errorf("%s: %w", quarantineDir, err)
	}
	if err := d.checkSchema(); err != nil {
		return err
	}
	documents := filepath.Join(d.path, documentsDir)
	_, missing := os.Lstat(documents)
	temps := []error{durable.RemoveTemps(d.path)}
	for _, folder := range []string{documentsDir, resolutionsDir, policiesDir, outcomesDir, endingsDir, opinionsDir, pulledDir, objectsDir} {
		if err := durable.OwnDir(filepath.Join(d.path, folder)); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		temps = append(temps, durable.RemoveTemps(filepath.Join(d.path, folder)))
	}
	if err := errors.Join(temps...); err != nil {
		return err
	}
	if err := d.copy.open(); err != nil {
		return err
	}
	forgotten := missing != nil || d.fresh()
	if err := d.identify(); err != nil {
		return err
	}
	if forgotten && !d.made {
		d.lost.Store(true)
		d.log.Error("the state of documents is lost; running pods count as admitted", "directory", documents)
	}
	return nil
}

// fresh reports whether no agent has used the directory yet: it is new, or its content is lost.
func (d *Dir) fresh() bool {
	_, err := os.Lstat(filepath.Join(d.path, installationFile))
	return errors.Is(err, os.ErrNotExist)
}

// Decisions opens the log of decisions. limits are the bytes that each owner of pods may use, as in
// decisions.Config.
func (d *Dir) Decisions(limits map[string]int64) (*decisions.Log, error) {
	return decisions.Open(decisions.Config{
		Dir: filepath.Join(d.path, decisions.DirName), Limits: limits, FS: d.fs, Logger: d.log,
		Quarantine: func(name string, corrupt error) error {
			return d.quarantine(filepath.Join(decisions.DirName, name), corrupt)
		},
	})
}

// Lost reports whether it is known that documents which an earlier process stored cannot be read
// any more.
func (d *Dir) Lost() bool { return d.lost.Load() }

// store writes a file of the directory.
func (d *Dir) store(name string, value any) error {
	data, err := seal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	dir, base := filepath.Split(filepath.Join(d.path, name))
	return durable.Write(d.fs, filepath.Clean(dir), base, data)
}

// load reads a file of the directory. A file that is corrupt or not a regular file is moved into
// quarantine and treated as missing.
func (d *Dir) load(name string, value any) (found bool, err error) {
	data, err := durable.Read(filepath.Join(d.path, name))
	var odd *durable.OddFileError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case errors.As(err, &odd):
		return false, d.quarantine(name, odd)
	case err != nil:
		return false, err
	}
	if corrupt := unseal(data, value); corrupt != nil {
		return false, d.quarantine(name, corrupt)
	}
	return true, nil
}

// quarantine moves a corrupt file into the quarantine directory, which keeps the newest file of
// each name.
func (d *Dir) quarantine(name string, corrupt error) error {
	aside := filepath.Join(d.path, quarantineDir, filepath.Base(name))
	if err := os.Rename(filepath.Join(d.path, name), aside); err != nil {
		return fmt.Errorf("%s is corrupt (%w) and cannot be moved aside: %w", name, corrupt, err)
	}
	d.log.Error("state file is corrupt, it was moved aside and is made anew", "file", filepath.Join(d.path, name), "moved_to", aside, "err", corrupt)
	return nil
}
