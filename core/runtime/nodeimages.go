package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// How many images a node's status lists, and how many names of each, as with a kubelet.
const (
	maxNodeImages = 50
	maxImageNames = 5
)

// NodeImages returns the images of the node, the largest first, as its status lists them.
func (r *Runtime) NodeImages(ctx context.Context) ([]v1.ContainerImage, error) {
	answer, err := r.images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	var images []v1.ContainerImage
	for _, i := range answer.GetImages() {
		names := slices.Concat(i.GetRepoDigests(), i.GetRepoTags())
		if len(names) == 0 {
			continue // an image without a name cannot be asked for
		}
		images = append(images, v1.ContainerImage{Names: names[:min(len(names), maxImageNames)], SizeBytes: int64(i.GetSize())})
	}
	slices.SortFunc(images, func(a, b v1.ContainerImage) int {
		return cmp.Or(cmp.Compare(b.SizeBytes, a.SizeBytes), slices.Compare(a.Names, b.Names))
	})
	return images[:min(len(images), maxNodeImages)], nil
}
