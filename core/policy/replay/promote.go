package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// Promote replaces a policy in the directory dir by its candidate: the text of the
// candidate's document, with the policy's mode, replaces the policy's document, and the
// candidate's document is removed. The directory has a complete set at every moment in
// between. The comparison must be complete, and the documents and the candidate's module
// must be those that were compared. Promote returns the paths of the policy's document and
// of the removed one. With an error, path is empty unless the policy's document has been
// replaced.
func Promote(set *api.PolicySet, name, dir string) (path, gone string, err error) {
	p, err := promotionOf(set, name, dir)
	if err != nil {
		return "", "", err
	}
	return p.carryOut()
}

// promotion has the changes that Promote makes.
type promotion struct {
	// path is the policy's document; promoted is its new text. gone is the candidate's
	// document; compared is its text.
	path, gone         string
	promoted, compared []byte
}

// promotionOf returns the changes to make, or the reason why none may be made.
func promotionOf(set *api.PolicySet, name, dir string) (*promotion, error) {
	var inForce, candidate *api.PolicyState
	for i := range set.Policies {
		switch p := &set.Policies[i]; {
		case p.Name != name:
		case p.Shadow != nil:
			candidate = p
		default:
			inForce = p
		}
	}
	switch {
	case inForce == nil:
		return nil, fmt.Errorf("no policy %q is in force there; wardlet get policies lists them", name)
	case candidate == nil:
		return nil, fmt.Errorf("policy %q has no candidate: that is a document of the same name with mode = \"shadow\"", name)
	case set.Refused != "":
		return nil, errors.New("the set in the directory is not in force: mend that first")
	case candidate.Shadow.Waits != "":
		return nil, fmt.Errorf("the candidate %s may not take the place of policy %q: %s", candidate.Document, name, candidate.Shadow.Waits)
	}
	of := candidate.Shadow
	if of.InForceSHA256 == "" || of.CandidateSHA256 == "" {
		return nil, errors.New("the agent does not say which documents it has compared; start it anew with the version of this command, and wait until it has")
	}
	path, _, err := comparedIn(set.Directory, dir, inForce.Document, of.InForceSHA256)
	if err != nil {
		return nil, err
	}
	if _, _, err := comparedIn(set.Directory, dir, candidate.Module, candidate.SHA256); err != nil {
		return nil, err
	}
	gone, text, err := comparedIn(set.Directory, dir, candidate.Document, of.CandidateSHA256)
	if err != nil {
		return nil, err
	}
	promoted, err := spec.Promoted(gone, text, inForce.Mode)
	if err != nil {
		return nil, err
	}
	return &promotion{path, gone, promoted, text}, nil
}

// carryOut makes the changes, and returns what Promote returns.
func (p *promotion) carryOut() (path, gone string, err error) {
	if err := replace(p.path, p.promoted); err != nil {
		return "", "", err
	}
	if err := p.retire(); err != nil {
		return p.path, "", fmt.Errorf("%s is now what %s was, which is to be removed and is still there: %w", p.path, p.gone, err)
	}
	return p.path, p.gone, nil
}

// retire removes the candidate's document, unless it was edited since it was compared.
func (p *promotion) retire() error {
	switch now, err := os.ReadFile(p.gone); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !bytes.Equal(now, p.compared):
		return errors.New("it has been edited meanwhile; remove it, or leave it as the next candidate")
	}
	return os.Remove(p.gone)
}

// comparedIn returns the path in dir of a file that the agent reads in the directory from,
// and the text of that file. The text must have the digest that was compared.
func comparedIn(from, dir, file, digest string) (path string, text []byte, err error) {
	relative, err := filepath.Rel(from, file)
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, relative)
	text, err = os.ReadFile(path)
	switch sum := sha256.Sum256(text); {
	case err != nil:
		return "", nil, err
	case hex.EncodeToString(sum[:]) == digest:
		return path, text, nil
	case path == filepath.Clean(file):
		return "", nil, fmt.Errorf("%s has changed since it was compared; wait until it is compared as it is now "+
			"(\"wardlet policy reload\" has it read at once), or put back what was compared", path)
	}
	return "", nil, fmt.Errorf("%s is not what was compared from %s; copy that one here, or bring this one there, signed where the set is, and wait until it is compared", path, file)
}

// replace replaces the text of a file atomically. It keeps the file's mode and, as root,
// the owner.
func replace(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		err = errors.Join(err, f.Chown(int(st.Uid), int(st.Gid)))
	}
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
