package volume

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
	"github.com/wardlet/wardlet/core/internal/rmtree"
	"github.com/wardlet/wardlet/core/pod"
)

// The plugin names, as in a kubelet's directories, of the volumes whose files the agent writes.
const (
	configMapPlugin = "kubernetes.io/configmap"
	secretPlugin    = "kubernetes.io/secret"
	downwardPlugin  = "kubernetes.io/downward-api"
	projectedPlugin = "kubernetes.io/projected"
)

// filesSize is how much of the node's memory a volume of files may use, in bytes. It is enough for
// two versions of 16 000 files: each occupies whole pages of memory.
const filesSize = 128 << 20

// Objects returns the API objects from which volumes are made.
type Objects interface {
	// ConfigMap returns a ConfigMap of the pod's namespace, and Secret returns a Secret. They may
	// wait for a short time. The error is a NotFound of package apierrors if the object does not
	// exist.
	ConfigMap(ctx context.Context, p *v1.Pod, name string) (*v1.ConfigMap, error)
	Secret(ctx context.Context, p *v1.Pod, name string) (*v1.Secret, error)
	// Token returns a token of the pod's service account.
	Token(ctx context.Context, p *v1.Pod, of *v1.ServiceAccountTokenProjection) (string, error)
}

// filesOf returns the contents of a volume whose files the agent writes, as a projected volume, and
// the plugin name of its directory. The name is empty for a volume of another kind.
func filesOf(v *v1.Volume) (plugin string, of *v1.ProjectedVolumeSource) {
	one := func(mode *int32, source v1.VolumeProjection) *v1.ProjectedVolumeSource {
		return &v1.ProjectedVolumeSource{DefaultMode: mode, Sources: []v1.VolumeProjection{source}}
	}
	switch {
	case v.ConfigMap != nil:
		c := v.ConfigMap
		return configMapPlugin, one(c.DefaultMode, v1.VolumeProjection{ConfigMap: &v1.ConfigMapProjection{
			LocalObjectReference: c.LocalObjectReference, Items: c.Items, Optional: c.Optional,
		}})
	case v.Secret != nil:
		s := v.Secret
		return secretPlugin, one(s.DefaultMode, v1.VolumeProjection{Secret: &v1.SecretProjection{
			LocalObjectReference: v1.LocalObjectReference{Name: s.SecretName}, Items: s.Items, Optional: s.Optional,
		}})
	case v.DownwardAPI != nil:
		return downwardPlugin, one(v.DownwardAPI.DefaultMode, v1.VolumeProjection{DownwardAPI: &v1.DownwardAPIProjection{Items: v.DownwardAPI.Items}})
	case v.Projected != nil:
		return projectedPlugin, v.Projected
	}
	return "", nil
}

// StaleError is why the files of volumes were not updated. A running pod keeps its files.
type StaleError struct{ Err error }

// Error returns that the files were not updated, and why.
func (e *StaleError) Error() string { return "the files stay as they were: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StaleError) Unwrap() error { return e.Err }

// Stale distinguishes it from errors that keep a pod from starting; see worker.Volumes.
func (e *StaleError) Stale() bool { return true }

var errNoKey = errors.New("has no key")

// setupFiles makes a volume of files, or updates it if it exists. Files that may be secret are only
// in memory.
func (v *Volumes) setupFiles(ctx context.Context, p *v1.Pod, dir *os.Root, volume *v1.Volume) error {
	plugin, of := filesOf(volume)
	if !rmtree.IsName(volume.Name) {
		return errors.New("the name cannot be that of a directory")
	}
	holds := v.holdsFiles(p, plugin, volume.Name)
	files, err := v.files(ctx, p, of)
	if err != nil {
		switch {
		case holds && (apierrors.IsNotFound(err) || errors.Is(err, errNoKey)):
			return &StaleError{err}
		case holds: // the source of the files has not answered
			return nil
		}
		return err
	}
	path := v.layout.VolumeDir(p.UID, plugin, volume.Name)
	below, err := filepath.Rel(v.layout.PodDir(p.UID), path)
	if err != nil {
		return err
	}
	if err := dir.MkdirAll(filepath.Dir(below), 0o700); err != nil {
		return err
	}
	switch err := dir.Mkdir(below, 0o755); {
	case err == nil:
		err = dir.Chmod(below, 0o755)
		if err != nil {
			return err
		}
	case !errors.Is(err, os.ErrExist):
		return err
	}
	if inMemory(plugin) {
		if err := v.mountOnce(tmpfs, path, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, []string{"size=" + strconv.Itoa(filesSize), "mode=0755"}); err != nil {
			return err
		}
	}
	inside, err := dir.OpenRoot(below)
	if err != nil {
		return err
	}
	defer inside.Close()
	err = writeFiles(inside, files, time.Now())
	if err != nil && holds {
		return &StaleError{err}
	}
	return err
}

// inMemory reports whether the files of a plugin's volumes are in memory only.
func inMemory(plugin string) bool { return plugin != configMapPlugin }

// holdsFiles reports whether a volume was made before, perhaps by an earlier agent.
func (v *Volumes) holdsFiles(p *v1.Pod, plugin, name string) bool {
	path := v.layout.VolumeDir(p.UID, plugin, name)
	if inMemory(plugin) {
		mounts, err := v.kernel.mounts(path)
		if err != nil || !slices.ContainsFunc(mounts, func(m mountinfo.Mount) bool { return m.Point == path && m.Type == tmpfs }) {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(path, dataLink))
	return err == nil
}

// files returns the files of a volume, by path.
func (v *Volumes) files(ctx context.Context, p *v1.Pod, of *v1.ProjectedVolumeSource) (map[string]content, error) {
	set := &fileSet{pod: p, owner: ownerOf(p), mode: 0o644, files: map[string]content{}}
	if of.DefaultMode != nil {
		set.mode = os.FileMode(*of.DefaultMode)
	}
	for i := range of.Sources {
		s := &of.Sources[i]
		var err error
		switch {
		case s.DownwardAPI != nil:
			err = v.addDownward(set, s.DownwardAPI)
		case v.objects == nil:
			err = errors.New("there is no API server")
		case s.ServiceAccountToken != nil:
			err = v.addToken(ctx, set, s.ServiceAccountToken)
		case s.ConfigMap != nil:
			err = v.addConfigMap(ctx, set, s.ConfigMap)
		case s.Secret != nil:
			err = v.addSecret(ctx, set, s.Secret)
		default:
			err = errors.New("only serviceAccountToken, configMap, secret and downwardAPI are supported")
		}
		if err != nil && len(of.Sources) > 1 {
			err = fmt.Errorf("source %d: %w", i, err)
		}
		if err != nil {
			return nil, err
		}
	}
	return set.files, nil
}

// fileSet collects the files of a volume.
type fileSet struct {
	pod   *v1.Pod
	owner fileOwner
	// mode is the mode of files that specify none.
	mode  os.FileMode
	files map[string]content
}

// add adds a file that belongs to root. own is its mode, nil for the volume's mode.
func (s *fileSet) add(path string, data []byte, own *int32) {
	mode := s.mode
	if own != nil {
		mode = os.FileMode(*own)
	}
	s.files[path] = content{data: data, mode: s.owner.mode(mode), user: -1, group: s.owner.group}
}

// addKeys adds the values of an object: all, or those in items. A missing key is an error, unless
// the object is optional.
func (s *fileSet) addKeys(object string, data map[string][]byte, items []v1.KeyToPath, optional *bool) error {
	if items == nil {
		for key, value := range data {
			s.add(key, value, nil)
		}
	}
	for i := range items {
		value, ok := data[items[i].Key]
		if ok {
			s.add(items[i].Path, value, items[i].Mode)
		} else if optional == nil || !*optional {
			return fmt.Errorf("%s %w %q", object, errNoKey, items[i].Key)
		}
	}
	return nil
}

// addToken adds a token. If all containers of the pod run as one user, the file belongs to that
// user alone.
func (v *Volumes) addToken(ctx context.Context, set *fileSet, of *v1.ServiceAccountTokenProjection) error {
	token, err := v.objects.Token(ctx, set.pod, of)
	if err != nil {
		return err
	}
	mode, owner := set.mode, set.owner
	if owner.group >= 0 || owner.user >= 0 {
		mode = 0o600
	}
	set.files[of.Path] = content{data: []byte(token), mode: owner.mode(mode), user: owner.user, group: owner.group}
	return nil
}

func (v *Volumes) addConfigMap(ctx context.Context, set *fileSet, of *v1.ConfigMapProjection) error {
	object, err := v.objects.ConfigMap(ctx, set.pod, of.Name)
	if missing(err, of.Optional) {
		return nil
	}
	if err != nil {
		return err
	}
	data := map[string][]byte{}
	for key, text := range object.Data {
		data[key] = []byte(text)
	}
	maps.Copy(data, object.BinaryData)
	return set.addKeys("ConfigMap "+of.Name, data, of.Items, of.Optional)
}

func (v *Volumes) addSecret(ctx context.Context, set *fileSet, of *v1.SecretProjection) error {
	object, err := v.objects.Secret(ctx, set.pod, of.Name)
	if missing(err, of.Optional) {
		return nil
	}
	if err != nil {
		return err
	}
	return set.addKeys("Secret "+of.Name, object.Data, of.Items, of.Optional)
}

// missing reports whether an object does not exist and is optional.
func missing(err error, optional *bool) bool {
	return apierrors.IsNotFound(err) && optional != nil && *optional
}

func (v *Volumes) addDownward(set *fileSet, of *v1.DownwardAPIProjection) error {
	for i := range of.Items {
		item := &of.Items[i]
		var text string
		var err error
		if item.FieldRef != nil {
			text, err = pod.VolumeField(set.pod, item.FieldRef.FieldPath)
		} else {
			text, err = pod.ResourceField(set.pod, nil, item.ResourceFieldRef, v.allocatable)
		}
		if err != nil {
			return fmt.Errorf("file %q: %w", item.Path, err)
		}
		set.add(item.Path, []byte(text), item.Mode)
	}
	return nil
}

// fileOwner is the owner of the files of a pod's volumes. A value below 0 means root.
type fileOwner struct{ user, group int }

// ownerOf returns the group of the pod's volumes, and the user as which all of its containers run.
func ownerOf(p *v1.Pod) fileOwner {
	o := fileOwner{user: -1, group: fsGroup(p)}
	first := true
	for c := range pod.Containers(p) {
		user := runAsUser(p, c)
		if user == nil || !first && int(*user) != o.user {
			o.user = -1
			break
		}
		o.user, first = int(*user), false
	}
	return o
}

func runAsUser(p *v1.Pod, c *v1.Container) *int64 {
	if c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil {
		return c.SecurityContext.RunAsUser
	}
	if p.Spec.SecurityContext != nil {
		return p.Spec.SecurityContext.RunAsUser
	}
	return nil
}

// mode adds read permission for the group to mode, as a kubelet does in volumes that are not
// written to.
func (o fileOwner) mode(mode os.FileMode) os.FileMode {
	if o.group >= 0 {
		mode |= 0o440
	}
	return mode
}
