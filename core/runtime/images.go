package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
)

// Reasons why an image cannot be pulled. The runtime's messages begin with the last two.
const (
	reasonPull         = "ErrImagePull"
	reasonRegistryAway = "RegistryUnavailable"
	reasonSignature    = "SignatureValidationFailed"
)

// Image returns the image with the name, digest or ID ref, nil if it is not present.
func (r *Runtime) Image(ctx context.Context, ref string) (*pod.Image, error) {
	found, err := r.imageStatus(ctx, ref)
	if err != nil || found == nil {
		return nil, err
	}
	return imageOf(found), nil
}

func imageOf(i *runtimeapi.Image) *pod.Image {
	return &pod.Image{ID: i.GetId(), Names: slices.Concat(i.GetRepoDigests(), i.GetRepoTags()), SizeBytes: int64(i.GetSize()), Pinned: i.GetPinned()}
}

// Images returns all images that are present.
func (r *Runtime) Images(ctx context.Context) ([]pod.Image, error) {
	answer, err := r.images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	images := make([]pod.Image, len(answer.GetImages()))
	for i, one := range answer.GetImages() {
		images[i] = *imageOf(one)
	}
	return images, nil
}

// UsedImages returns the images of all containers in the runtime, in all states and also of others
// than this agent: IDs, names and digests, as the runtime names them.
func (r *Runtime) UsedImages(ctx context.Context) (map[string]bool, error) {
	answer, err := r.cri.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	used := map[string]bool{}
	for _, c := range answer.GetContainers() {
		for _, name := range []string{c.GetImageId(), c.GetImageRef(), c.GetImage().GetImage()} {
			if name != "" {
				used[name] = true
			}
		}
	}
	return used, nil
}

// RemoveImage removes an image with all its names. An image that is not present is no error.
func (r *Runtime) RemoveImage(ctx context.Context, id string) error {
	if _, err := r.images.RemoveImage(ctx, &runtimeapi.RemoveImageRequest{Image: &runtimeapi.ImageSpec{Image: id}}); err != nil {
		return fmt.Errorf("remove image %q: %w", id, err)
	}
	return nil
}

// PullImage pulls the named image with a credential, nil for none, and returns its ID. It has no
// timeout but that of ctx. Errors are *status.Fault with one of the reasons above, except if the
// runtime is unavailable or ctx was cancelled.
func (r *Runtime) PullImage(ctx context.Context, name string, auth *pod.RegistryAuth) (id string, err error) {
	request := &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: name}}
	if auth != nil {
		request.Auth = &runtimeapi.AuthConfig{Username: auth.Username, Password: auth.Password}
	}
	answer, err := r.images.PullImage(ctx, request)
	if err != nil {
		reason := pullReason(err)
		err = fmt.Errorf("pull image %q: %w", name, err)
		if interrupted(err) {
			return "", err
		}
		return "", &status.Fault{Reason: reason, Err: err}
	}
	return answer.GetImageRef(), nil
}

// ImageStoreBytes returns how many bytes are used on the file systems where the runtime keeps
// images. If this machine can read the file system, it counts everything on it, because the runtime
// does not count layers that are still being downloaded.
func (r *Runtime) ImageStoreBytes(ctx context.Context) (int64, error) {
	answer, err := r.images.ImageFsInfo(ctx, &runtimeapi.ImageFsInfoRequest{})
	if err != nil {
		return 0, fmt.Errorf("read the use of the image file system: %w", err)
	}
	var used int64
	for _, fs := range answer.GetImageFilesystems() {
		path := fs.GetFsId().GetMountpoint()
		if state, err := r.files.Of(ctx, path); path != "" && err == nil {
			used += state.Used()
			continue
		}
		used += int64(fs.GetUsedBytes().GetValue())
	}
	return used, nil
}

// ImageStore returns the directory where the runtime keeps images, empty if the runtime names none.
func (r *Runtime) ImageStore(ctx context.Context) (path string, err error) {
	answer, err := r.images.ImageFsInfo(ctx, &runtimeapi.ImageFsInfoRequest{})
	if err != nil {
		return "", fmt.Errorf("read the place of the image file system: %w", err)
	}
	for _, fs := range answer.GetImageFilesystems() {
		if path := fs.GetFsId().GetMountpoint(); path != "" {
			return path, nil
		}
	}
	return "", nil
}

// Layer is what the writable layer of a container uses on the disk.
type Layer struct{ Bytes, Inodes int64 }

// WritableLayers returns the writable layers of all containers in the runtime, by ID.
func (r *Runtime) WritableLayers(ctx context.Context) (map[string]Layer, error) {
	answer, err := r.cri.ListContainerStats(ctx, &runtimeapi.ListContainerStatsRequest{})
	if err != nil {
		return nil, fmt.Errorf("read the sizes of containers: %w", err)
	}
	layers := map[string]Layer{}
	for _, s := range answer.GetStats() {
		used := s.GetWritableLayer()
		layers[s.GetAttributes().GetId()] = Layer{int64(used.GetUsedBytes().GetValue()), int64(used.GetInodesUsed().GetValue())}
	}
	return layers, nil
}

// LastImage returns the ID of the image that a container of the pod ran last under the same image
// name, "" if the runtime no longer has such a container.
func (r *Runtime) LastImage(ctx context.Context, p *v1.Pod, c *v1.Container) (id string, err error) {
	pods, err := r.list(ctx, map[string]string{pod.LabelPodUID: string(p.UID)})
	if err != nil {
		return "", err
	}
	for i := range pods {
		if last := pods[i].Newest(c.Name); pods[i].UID == p.UID && last != nil && last.Hash == criconfig.ContainerHash(c) {
			return last.ImageRef, nil
		}
	}
	return "", nil
}

// imageStatus returns an image, nil if it is not present.
func (r *Runtime) imageStatus(ctx context.Context, image string) (*runtimeapi.Image, error) {
	answer, err := r.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	if err != nil {
		return nil, fmt.Errorf("inspect image %q: %w", image, err)
	}
	return answer.GetImage(), nil
}

// imageUser returns the user as which an image runs: by name if the image specifies a name, else by
// number, which is 0 if the image specifies no user.
func (r *Runtime) imageUser(ctx context.Context, ref string) (uid int64, user string, err error) {
	answer, err := r.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	switch image := answer.GetImage(); {
	case err != nil:
		return 0, "", err
	case image == nil:
		return 0, "", errors.New("the image is gone")
	case image.GetUid() != nil:
		return image.GetUid().GetValue(), "", nil
	default:
		return 0, image.GetUsername(), nil
	}
}

// pullReason returns the reason with which the runtime's message begins, or ErrImagePull.
func pullReason(err error) string {
	if e, ok := errors.AsType[*callError](err); ok {
		for _, reason := range []string{reasonRegistryAway, reasonSignature} {
			if strings.HasPrefix(e.status.Message(), reason) {
				return reason
			}
		}
	}
	return reasonPull
}

// The number of images that a node's status lists, and of the names of each, as in a kubelet.
const (
	maxNodeImages = 50
	maxImageNames = 5
)

// NodeImages returns the images for the node's status, the largest first.
func (r *Runtime) NodeImages(ctx context.Context) ([]v1.ContainerImage, error) {
	all, err := r.Images(ctx)
	if err != nil {
		return nil, err
	}
	var images []v1.ContainerImage
	for _, i := range all {
		if len(i.Names) == 0 {
			continue // an image without a name cannot be requested
		}
		images = append(images, v1.ContainerImage{Names: i.Names[:min(len(i.Names), maxImageNames)], SizeBytes: i.SizeBytes})
	}
	slices.SortFunc(images, func(a, b v1.ContainerImage) int {
		return cmp.Or(cmp.Compare(b.SizeBytes, a.SizeBytes), slices.Compare(a.Names, b.Names))
	})
	return images[:min(len(images), maxNodeImages)], nil
}
