package volume

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/rmtree"
	"github.com/wardlet/wardlet/core/pod"
)

// ownerFile says whose a pod directory is, so that what else belongs to the
// pod (its logs) and who may end it (its source) is known when the directory
// is all that is left of it.
const ownerFile = "owner.json"

type owner struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	Source    string    `json:"source"`
}

// makePodDir makes the directory of p, says in it whose it is, and opens it.
func (v *Volumes) makePodDir(p *v1.Pod) (*os.Root, error) {
	name := string(p.UID)
	if !rmtree.IsName(name) {
		return nil, fmt.Errorf("UID %q cannot be the name of a directory: change metadata.uid", p.UID)
	}
	pods, err := os.OpenRoot(v.layout.PodsDir())
	if errors.Is(err, os.ErrNotExist) { // it was removed while the agent runs
		if err = makePodsDir(v.layout); err == nil {
			pods, err = os.OpenRoot(v.layout.PodsDir())
		}
	}
	if err != nil {
		return nil, err
	}
	defer pods.Close()
	switch err := pods.Mkdir(name, 0o750); {
	case err == nil:
		err = pods.Chmod(name, 0o750)
		if err != nil {
			return nil, err
		}
	case !errors.Is(err, os.ErrExist):
		return nil, err
	}
	if info, err := pods.Lstat(name); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is in the way of the pod's directory: remove it", v.layout.PodDir(p.UID))
	}
	dir, err := pods.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := writeOwner(dir, p); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// freshOwner is where the file is written before it takes its place.
const freshOwner = ownerFile + ".new"

// holds reports whether there is more in the directory of uid than what makePodDir
// makes before it says whose it is.
func (v *Volumes) holds(uid types.UID) bool {
	entries, err := os.ReadDir(v.layout.PodDir(uid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != freshOwner })
}

// writeOwner replaces the file as a whole but does not wait for the disk: it
// is on the way of every start, and a file torn by a power cut is written
// again by the next Setup.
func writeOwner(dir *os.Root, p *v1.Pod) error {
	data, err := json.Marshal(owner{
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, Source: p.Annotations[pod.AnnotationSource],
	})
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := dir.ReadFile(ownerFile); err == nil && string(old) == string(data) {
		return nil
	}
	if err := dir.WriteFile(freshOwner, data, 0o600); err != nil {
		return err
	}
	return dir.Rename(freshOwner, ownerFile)
}

// Owner says whose the directory of uid is: a pod with no more than name,
// namespace, UID and the annotation that names its source. The error is
// os.ErrNotExist when there is no directory, or an empty one, as makePodDir
// leaves it that was cut off; and pod.ErrUnmarked when there is something in it
// and it does not say.
func (v *Volumes) Owner(uid types.UID) (*v1.Pod, error) {
	data, err := os.ReadFile(filepath.Join(v.layout.PodDir(uid), ownerFile))
	if errors.Is(err, os.ErrNotExist) && v.holds(uid) {
		return nil, fmt.Errorf("directory %s among those of pods: %w", uid, pod.ErrUnmarked)
	}
	if err != nil {
		return nil, fmt.Errorf("owner of a pod directory: %w", err)
	}
	var o owner
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("owner of pod directory %s: %w", uid, err)
	}
	if o.UID != uid {
		return nil, fmt.Errorf("owner of pod directory %s: the file names another pod, %s", uid, o.UID)
	}
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID,
		Annotations: map[string]string{pod.AnnotationSource: o.Source},
	}}, nil
}
