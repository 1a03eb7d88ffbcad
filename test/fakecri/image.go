package fakecri

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// image is one image; its name has a tag.
type image struct {
	name    string
	size    uint64
	program Program
	// user and password are required to pull the image, unless they are empty.
	user, password string
}

type imageService struct {
	runtimeapi.UnimplementedImageServiceServer
	*Server
}

// Publish puts an image into the registry, from which it can be pulled. The
// name has a tag: "registry.example/app:1".
func (s *Server) Publish(name string, size uint64, program Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.published[name] = &image{name: name, size: size, program: program}
}

// Protect makes a published image require credentials for pulls.
func (s *Server) Protect(name, user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.published[name].user, s.published[name].password = user, password
}

// SetImageStoreDir sets the mount point of the image file system. The initial one is on no disk of
// this machine.
func (s *Server) SetImageStoreDir(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeDir = dir
}

// SetImageStore sets how many bytes the image file system uses.
func (s *Server) SetImageStore(bytes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeBytes = bytes
}

// Load puts an image on the node.
func (s *Server) Load(name string, size uint64, program Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	img := &image{name: name, size: size, program: program}
	s.present[img.id()] = img
}

// ImageID returns the ID of the image with this name.
func ImageID(name string) string {
	sum := sha256.Sum256([]byte("image " + name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (i *image) id() string { return ImageID(i.name) }

func (i *image) digest() string {
	sum := sha256.Sum256([]byte("manifest " + i.name))
	return i.name[:strings.LastIndexByte(i.name, ':')] + "@sha256:" + hex.EncodeToString(sum[:])
}

func (i *image) cri() *runtimeapi.Image {
	answer := &runtimeapi.Image{Id: i.id(), RepoTags: []string{i.name}, RepoDigests: []string{i.digest()}, Size: i.size}
	if uid, err := strconv.ParseInt(i.program.User, 10, 64); err == nil {
		answer.Uid = &runtimeapi.Int64Value{Value: uid}
	} else {
		answer.Username = i.program.User
	}
	return answer
}

// find returns a present image by ID, name or digest.
func (s *Server) find(ref string) *image {
	for _, img := range s.present {
		if ref == img.id() || ref == img.name || ref == img.digest() {
			return img
		}
	}
	return nil
}

// ImageStatus returns no image if the image is not present.
func (s imageService) ImageStatus(_ context.Context, r *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if img := s.find(r.GetImage().GetImage()); img != nil {
		return &runtimeapi.ImageStatusResponse{Image: img.cri()}, nil
	}
	return &runtimeapi.ImageStatusResponse{}, nil
}

// PullImage makes a published image present.
func (s imageService) PullImage(_ context.Context, r *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.GetImage().GetImage()
	img := s.published[name]
	if img == nil {
		return nil, status.Errorf(codes.NotFound, "failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", name, name, name)
	}
	if img.user != "" && (r.GetAuth().GetUsername() != img.user || r.GetAuth().GetPassword() != img.password) {
		return nil, status.Errorf(codes.Unknown, "failed to pull and unpack image %q: failed to resolve reference %q: unexpected status from HEAD request: 401 Unauthorized", name, name)
	}
	s.present[img.id()] = img
	return &runtimeapi.PullImageResponse{ImageRef: img.id()}, nil
}

// ListImages lists the images that are present.
func (s imageService) ListImages(context.Context, *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := &runtimeapi.ListImagesResponse{}
	for _, id := range slices.Sorted(maps.Keys(s.present)) {
		answer.Images = append(answer.Images, s.present[id].cri())
	}
	return answer, nil
}

// RemoveImage removes an image. For an unknown image it succeeds.
func (s imageService) RemoveImage(_ context.Context, r *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if img := s.find(r.GetImage().GetImage()); img != nil {
		delete(s.present, img.id())
	}
	return &runtimeapi.RemoveImageResponse{}, nil
}

// ImageFsInfo returns the mount point of the image file system and how much of it is used.
func (s imageService) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest) (*runtimeapi.ImageFsInfoResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: []*runtimeapi.FilesystemUsage{{
		FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: s.storeDir}, UsedBytes: &runtimeapi.UInt64Value{Value: s.storeBytes},
	}}}, nil
}

// Unload removes an image from the node.
func (s *Server) Unload(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.present, ImageID(name))
}
