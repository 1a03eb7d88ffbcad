package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// resolutionsDir is the directory of answers to conflicts.
const resolutionsDir = "resolutions"

// Resolution is a merge policy's answer to a conflict.
type Resolution struct {
	Identity types.NamespacedName `json:"identity"`
	// Key names the set of candidates the answer is for.
	Key        string         `json:"key"`
	Resolution pod.Resolution `json:"resolution"`
}

// Resolutions keeps one answer per identity.
type Resolutions struct{ dir *Dir }

// Resolutions is the store of answers to conflicts.
func (d *Dir) Resolutions() Resolutions { return Resolutions{d} }

// Put stores an answer in place of the identity's earlier one. When it returns
// nil the answer is on the disk.
func (s Resolutions) Put(r *Resolution) error {
	return s.dir.store(r.file(), r)
}

// Delete removes the answer for an identity; one that does not exist is
// removed.
func (s Resolutions) Delete(identity types.NamespacedName) error {
	dir, name := filepath.Split(filepath.Join(s.dir.path, resolutionFile(identity)))
	return removeFile(s.dir.fs, filepath.Clean(dir), name)
}

// Load reads all answers. The errors name files that cannot be read; those
// that are corrupt are moved aside, and no error but a log line.
func (s Resolutions) Load() ([]Resolution, []error) {
	all, _, errs := loadAll[Resolution](s.dir, resolutionsDir)
	return all, errs
}

func (r *Resolution) String() string { return "answer to the conflict about " + r.Identity.String() }

func (r *Resolution) file() string { return resolutionFile(r.Identity) }

func (r *Resolution) usable() error {
	if r.Identity.Name == "" || r.Identity.Namespace == "" {
		return errors.New("it is about no pod")
	}
	return nil
}

// resolutionFile is the file of an identity below the state directory.
func resolutionFile(identity types.NamespacedName) string {
	sum := sha256.Sum256([]byte(identity.String()))
	return filepath.Join(resolutionsDir, hex.EncodeToString(sum[:16])+recordSuffix)
}
