package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
)

// Promote has the candidate for the place of a policy take it in the directory dir:
// its document takes that of the policy, with the policy's mode, and its own file goes. A set
// is whole at every moment between. The comparison must have come to its end, and the
// documents must be those that were compared. It gives the paths of the document and of
// the one that is gone.
func Promote(set *pod.PolicySet, name, dir string) (path, gone string, err error) {
	var inForce, candidate *pod.PolicyState
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
		return "", "", fmt.Errorf("no policy %q is in force there; wardlet get policies lists them", name)
	case candidate == nil:
		return "", "", fmt.Errorf("policy %q has no candidate: that is a document of the same name with mode = \"shadow\"", name)
	case set.Refused != "":
		return "", "", errors.New("what the directory holds is not in force: mend that first")
	case candidate.Shadow.Waits != "":
		return "", "", fmt.Errorf("the candidate %s may not take the place of policy %q: %s", candidate.Document, name, candidate.Shadow.Waits)
	}
	path, err = sameIn(set.Directory, dir, inForce.Document)
	if err != nil {
		return "", "", err
	}
	gone, err = sameIn(set.Directory, dir, candidate.Document)
	if err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(gone)
	if err != nil {
		return "", "", err
	}
	promoted, err := policy.Promoted(gone, text, inForce.Mode)
	if err != nil {
		return "", "", err
	}
	if err := replace(path, promoted); err != nil {
		return "", "", err
	}
	return path, gone, os.Remove(gone)
}

// sameIn is the path in dir of a document that is in force from a directory. Both must be
// the same.
func sameIn(from, dir, document string) (string, error) {
	relative, err := filepath.Rel(from, document)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, relative)
	was, err := os.ReadFile(document)
	if err != nil {
		return "", err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(was, now) {
		return "", fmt.Errorf("%s is not what is in force from %s", path, from)
	}
	return path, nil
}

// replace puts another text into a file at once, with the mode that it has and, as root,
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
