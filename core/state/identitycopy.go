package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wardlet/wardlet/core/state/durable"
)

// identityFile is the file of an identityCopy.
const identityFile = "identity.json"

// identity is the identity of this node.
type identity struct {
	Installation string `json:"installation"`
	// Node is empty until the node's name is known.
	Node string `json:"node,omitempty"`
}

// Option changes how a state directory is opened.
type Option func(*Dir)

// WithIdentity stores a second copy of the installation ID and of the node's name in a separate
// directory, which is made if it is missing. That directory should not be lost together with the
// state: either copy is sufficient for the agent to recognize its own pods. It belongs to one agent
// at a time, too.
func WithIdentity(path string) Option {
	return func(d *Dir) { d.copy = &identityCopy{files: Dir{path: path, log: d.log, fs: d.fs}} }
}

// errOtherAgent is the error for a copy that another process has locked.
var errOtherAgent = errors.New("another agent uses it: stop that one, or name another pod_root")

// identityCopy is the second copy. A nil identityCopy is empty and stores nothing.
type identityCopy struct {
	// files is the directory; only its functions to read and write files are used.
	files Dir
	// held is the content of the file, empty if there is none.
	held identity
	// fault is the reason why the copy cannot be used. The file may have been read nevertheless,
	// and is not changed.
	fault error
}

// open locks the directory and reads the file. It fails if another agent has the directory. Any
// other error is recorded as the fault.
func (c *identityCopy) open() error {
	if c == nil {
		return nil
	}
	dir := c.files.path
	err := c.prepare()
	if errors.Is(err, errOtherAgent) {
		return c.wrap(err)
	}
	if err != nil {
		c.fault = c.wrap(err)
		c.peek()
		return nil
	}
	if err = durable.RemoveTemps(dir); err == nil {
		err = c.read()
	}
	if err != nil {
		c.fault = c.wrap(err)
	}
	return nil
}

// prepare makes the directory, and locks it even if there is something wrong with it, because
// another agent may use it nevertheless.
func (c *identityCopy) prepare() error {
	dir := c.files.path
	err := os.MkdirAll(filepath.Dir(dir), 0o755)
	if err == nil {
		err = durable.OwnDirOf(dir, "pod_root")
	}
	if err == nil {
		err = durable.OwnDirOf(filepath.Join(dir, quarantineDir), "pod_root")
	}
	var locked error
	if c.files.lock, locked = lockItself(dir); errors.Is(locked, errOtherAgent) {
		return locked
	}
	if err == nil {
		err = locked
	}
	return err
}

func (c *identityCopy) read() error {
	var stored identity
	found, err := c.files.load(identityFile, &stored)
	if err == nil && found && !isInstallation(stored.Installation) {
		return c.files.quarantine(identityFile, errNoInstallation)
	}
	if found {
		c.held = stored
	}
	return err
}

// peek reads the file if it is valid, and changes nothing: the pods may belong to another
// installation.
func (c *identityCopy) peek() {
	var stored identity
	data, err := durable.Read(filepath.Join(c.files.path, identityFile))
	if err == nil && unseal(data, &stored) == nil && isInstallation(stored.Installation) {
		c.held = stored
	}
}

func (c *identityCopy) wrap(err error) error {
	return fmt.Errorf("second copy of the installation ID in %s: %w", c.files.path, err)
}

// broken returns the fault, nil if there is none.
func (c *identityCopy) broken() error {
	if c == nil {
		return nil
	}
	return c.fault
}

// said returns the content of the copy.
func (c *identityCopy) said() identity {
	if c == nil {
		return identity{}
	}
	return c.held
}

// keep writes the identity to the copy. An agent with its state can run without the copy, so a
// failed write is only logged.
func (c *identityCopy) keep(id identity) {
	if c == nil || c.fault != nil || c.held == id {
		return
	}
	if err := c.files.store(identityFile, id); err != nil {
		c.files.log.Error("there is no second copy of the installation ID; if the state is lost, running pods become foreign", "err", err)
		return
	}
	c.held = id
}

// differs returns the error for a copy with another installation ID than the state. If the agent
// continued, it would remove another installation's files of pods.
func (c *identityCopy) differs(installation string) error {
	return fmt.Errorf("it is the state of installation %s, but %s says that the pods there are those of %s: give each agent a state_root and a pod_root of its own; "+
		"if this is the wrong state, move it away, and the next start makes it anew for the pods that are there; if those are gone for good, remove %s",
		installation, filepath.Join(c.files.path, identityFile), c.held.Installation, c.files.path)
}

func (c *identityCopy) close() error {
	if c == nil || c.files.lock == nil {
		return nil
	}
	return c.files.lock.Close()
}

// lockItself locks a directory until the file is closed or the process ends. It writes nothing,
// because pods may have filled the disk.
func lockItself(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errOtherAgent
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
