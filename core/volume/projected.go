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

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
	"github.com/wardlet/wardlet/core/internal/rmtree"
	"github.com/wardlet/wardlet/core/pod"
)

const projectedPlugin = "kubernetes.io/projected"

// projectedSize bounds what a projected volume may take of the node's memory, in bytes: two versions of the largest
// ConfigMaps and Secrets there may be, of several of them.
const projectedSize = 32 << 20

// Objects are the API objects that volumes are made from.
type Objects interface {
	// ConfigMap returns a ConfigMap of the pod's namespace. It may wait for a short time. The error is a NotFound of
	// package apierrors where there is none.
	ConfigMap(ctx context.Context, p *v1.Pod, name string) (*v1.ConfigMap, error)
	// Token returns a token of the pod's service account.
	Token(ctx context.Context, p *v1.Pod, of *v1.ServiceAccountTokenProjection) (string, error)
}

// setupProjected makes a volume in memory of files that come from the API server, and brings it up to date where it
// is there already.
func (v *Volumes) setupProjected(ctx context.Context, p *v1.Pod, dir *os.Root, volume *v1.Volume) error {
	if v.objects == nil {
		return errors.New("projected volumes are for pods of an API server")
	}
	if !rmtree.IsName(volume.Name) {
		return errors.New("the name cannot be that of a directory")
	}
	files, err := v.projectedFiles(ctx, p, volume.Projected)
	if err != nil {
		if v.holdsProjected(p, volume.Name) {
			return nil // what it holds stays: nothing is taken from a pod that has it
		}
		return err
	}
	path := v.layout.VolumeDir(p.UID, projectedPlugin, volume.Name)
	below, err := filepath.Rel(v.layout.PodDir(p.UID), path)
	if err != nil {
		return err
	}
	if err := dir.MkdirAll(filepath.Dir(below), 0o750); err != nil {
		return err
	}
	if err := dir.Mkdir(below, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := v.mountOnce(path, []string{"size=" + strconv.Itoa(projectedSize), "mode=0755"}); err != nil {
		return err
	}
	inside, err := dir.OpenRoot(below)
	if err != nil {
		return err
	}
	defer inside.Close()
	return writeFiles(inside, files, time.Now())
}

// holdsProjected reports whether a projected volume was made before, perhaps by an agent before this one.
func (v *Volumes) holdsProjected(p *v1.Pod, name string) bool {
	path := v.layout.VolumeDir(p.UID, projectedPlugin, name)
	mounts, err := v.kernel.mounts(path)
	if err != nil || !slices.ContainsFunc(mounts, func(m mountinfo.Mount) bool { return m.Point == path && m.Type == tmpfs }) {
		return false
	}
	_, err = os.Lstat(filepath.Join(path, dataLink))
	return err == nil
}

// projectedFiles are the files of a projected volume, by path.
func (v *Volumes) projectedFiles(ctx context.Context, p *v1.Pod, of *v1.ProjectedVolumeSource) (map[string]content, error) {
	owner := ownerOf(p)
	mode := os.FileMode(0o644)
	if of.DefaultMode != nil {
		mode = os.FileMode(*of.DefaultMode)
	}
	files := map[string]content{}
	for i := range of.Sources {
		s := &of.Sources[i]
		var err error
		switch {
		case s.ServiceAccountToken != nil:
			err = v.addToken(ctx, p, s.ServiceAccountToken, mode, owner, files)
		case s.ConfigMap != nil:
			err = v.addConfigMap(ctx, p, s.ConfigMap, mode, owner, files)
		case s.DownwardAPI != nil:
			err = addDownward(p, s.DownwardAPI, mode, owner, files)
		default:
			err = errors.New("only serviceAccountToken, configMap and downwardAPI are supported")
		}
		if err != nil {
			return nil, fmt.Errorf("source %d: %w", i, err)
		}
	}
	return files, nil
}

// addToken adds a token. If a single user of the pod is to read it, the file belongs to that user alone.
func (v *Volumes) addToken(ctx context.Context, p *v1.Pod, of *v1.ServiceAccountTokenProjection, mode os.FileMode, owner fileOwner, files map[string]content) error {
	token, err := v.objects.Token(ctx, p, of)
	if err != nil {
		return err
	}
	if owner.group >= 0 || owner.user >= 0 {
		mode = 0o600
	}
	files[of.Path] = content{data: []byte(token), mode: owner.mode(mode), user: owner.user, group: owner.group}
	return nil
}

func (v *Volumes) addConfigMap(ctx context.Context, p *v1.Pod, of *v1.ConfigMapProjection, mode os.FileMode, owner fileOwner, files map[string]content) error {
	optional := of.Optional != nil && *of.Optional
	object, err := v.objects.ConfigMap(ctx, p, of.Name)
	if apierrors.IsNotFound(err) && optional {
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
	if of.Items == nil {
		for key, bytes := range data {
			files[key] = content{data: bytes, mode: owner.mode(mode), user: -1, group: owner.group}
		}
	}
	for _, item := range of.Items {
		bytes, ok := data[item.Key]
		if !ok && optional {
			continue
		}
		if !ok {
			return fmt.Errorf("ConfigMap %q has no key %q", of.Name, item.Key)
		}
		own := mode
		if item.Mode != nil {
			own = os.FileMode(*item.Mode)
		}
		files[item.Path] = content{data: bytes, mode: owner.mode(own), user: -1, group: owner.group}
	}
	return nil
}

func addDownward(p *v1.Pod, of *v1.DownwardAPIProjection, mode os.FileMode, owner fileOwner, files map[string]content) error {
	for _, item := range of.Items {
		if item.FieldRef == nil {
			return fmt.Errorf("file %q: only fieldRef is supported", item.Path)
		}
		text, err := pod.VolumeField(p, item.FieldRef.FieldPath)
		if err != nil {
			return fmt.Errorf("file %q: %w", item.Path, err)
		}
		own := mode
		if item.Mode != nil {
			own = os.FileMode(*item.Mode)
		}
		files[item.Path] = content{data: []byte(text), mode: owner.mode(own), user: -1, group: owner.group}
	}
	return nil
}

// fileOwner is who owns the files of a pod's volumes; less than 0 is root.
type fileOwner struct{ user, group int }

// ownerOf returns the group of the pod's volumes, and the user that all of its containers have.
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

// mode lets the group read what its files say, as a kubelet does with volumes that are not written to.
func (o fileOwner) mode(mode os.FileMode) os.FileMode {
	if o.group >= 0 {
		mode |= 0o440
	}
	return mode
}
