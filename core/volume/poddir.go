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

// ownerFile names the pod to which a pod directory belongs. With it the pod's logs and its source
// are known even if the directory is all that is left of the pod.
const ownerFile = "owner.json"

type owner struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	Source    string    `json:"source"`
}

// makePodDir makes the directory of p, writes the owner file into it, and opens it.
func (v *Volumes) makePodDir(p *v1.Pod) (*os.Root, error) {
	name := string(p.UID)
	if !rmtree.IsName(name) {
		return nil, fmt.Errorf("UID %q cannot be the name of a directory: change metadata.uid", p.UID)
	}
	pods, err := os.OpenRoot(v.layout.PodsDir())
	if errors.Is(err, os.ErrNotExist) { // it was removed while the agent was running
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

// freshOwner is the temporary name of the owner file while it is written.
const freshOwner = ownerFile + ".new"

// holds reports whether the directory of uid contains more than makePodDir makes before it writes
// the owner file.
func (v *Volumes) holds(uid types.UID) bool {
	entries, err := os.ReadDir(v.layout.PodDir(uid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != freshOwner })
}

// writeOwner replaces the file atomically but does not wait for the disk, because it is part of
// every start. A file damaged by a power failure is written again by the next Setup.
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

// Owner returns the pod to which the directory of uid belongs, with only its name, namespace, UID
// and source annotation. The error is os.ErrNotExist if there is no directory, or an empty one, as
// an interrupted makePodDir leaves it. It is pod.ErrUnmarked if the directory contains something
// but no owner file.
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
