package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// endingsDir is the directory of endings.
const endingsDir = "endings"

// Ending is a pod that is being ended. An agent that starts meanwhile gives it the rest
// of its grace period.
type Ending struct {
	UID types.UID `json:"uid"`
	// Seen is when the pod that ends was first seen: another one may come under its UID.
	Seen time.Time `json:"seen"`
	// Grace is what its containers were given, in nanoseconds, from Began on, which is
	// Since by a clock that nobody sets; nil where that was not known.
	Grace time.Duration `json:"grace"`
	Began time.Time     `json:"began"`
	Since *BootTime     `json:"since,omitempty"`
}

// Endings keeps one ending per UID.
type Endings struct{ dir *Dir }

// Endings is the store of endings.
func (d *Dir) Endings() Endings { return Endings{d} }

// Put stores an ending in place of the one with the same UID. When it returns nil the
// ending is on the disk.
func (s Endings) Put(e *Ending) error {
	if err := e.usable(); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	return s.dir.store(e.file(), e)
}

// Delete removes an ending; one that does not exist is removed.
func (s Endings) Delete(uid types.UID) error {
	dir, name := filepath.Split(filepath.Join(s.dir.path, endingFile(uid)))
	return removeFile(s.dir.fs, filepath.Clean(dir), name)
}

// Load reads all endings. The errors name files that cannot be read; those that are
// corrupt are moved aside, and no error but a log line.
func (s Endings) Load() ([]Ending, []error) {
	all, _, errs := loadAll[Ending](s.dir, endingsDir)
	return all, errs
}

func (e *Ending) String() string { return fmt.Sprintf("end of pod with uid %s", e.UID) }

func (e *Ending) file() string { return endingFile(e.UID) }

// usable says what keeps the agent from going on with an ending.
func (e *Ending) usable() error {
	switch {
	case e.UID == "":
		return errors.New("it names no pod")
	case e.Grace < 0:
		return fmt.Errorf("a grace period of %s is none", e.Grace)
	}
	return nil
}

// endingFile is the file of a pod below the state directory. A UID may be anything that
// a manifest says.
func endingFile(uid types.UID) string {
	sum := sha256.Sum256([]byte(uid))
	return filepath.Join(endingsDir, hex.EncodeToString(sum[:16])+recordSuffix)
}
