package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nameLabel is the label in a configuration that makes the image ID of each name unique.
const nameLabel = "test.wardlet.name"

// fixedTime is the time of every file and configuration, so that the same binaries result in the
// same image IDs.
var fixedTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// entry is one file or directory of an image; a name that ends in a slash is a directory.
type entry struct {
	name string
	mode int64
	data []byte
	// link is the target of a symbolic link, empty for a file or directory.
	link string
}

// content is what an image holds and how it starts.
type content struct {
	entries    []entry
	entrypoint []string
	command    []string
	ports      []string
	// standins has the names of the images that stand in for others. The value is the user, empty
	// for root.
	standins map[string]string
}

// programs are the paths of the programs in images for which tests have a stand-in.
var programs = []string{
	"bin/calico-node", "bin/cp", "bin/sh", "coredns", "flannel", "opt/bin/flanneld", "opt/bin/install-conf", "opt/cni/bin/calico-ipam",
	"opt/cni/bin/install", "proxy-agent", "standin", "usr/bin/calico", "usr/bin/calico-ipam", "usr/local/bin/kube-proxy",
}

// standinPath is the PATH that contains the programs that a manifest names without a directory.
const standinPath = "PATH=/bin:/usr/bin"

// pauseContent returns the image of the container that holds a pod's namespaces.
func pauseContent(binary string) (content, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return content{}, fmt.Errorf("read the pause binary: %w", err)
	}
	return content{entries: []entry{{name: "pause", mode: 0o755, data: data}}, entrypoint: []string{"/pause"}}, nil
}

// testContent returns the image that tests and the demo run: one binary, and the users that a pod
// may name.
func testContent(binary string) (content, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return content{}, fmt.Errorf("read the testbox binary: %w", err)
	}
	entries := []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nweb:x:1000:\nnogroup:x:65534:\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/testbox\nweb:x:1000:1000:web:/tmp:/testbox\nnobody:x:65534:65534:nobody:/:/testbox\n")},
		{name: "testbox", mode: 0o755, data: data},
		{name: "tmp/", mode: 0o1777},
	}
	for _, program := range programs {
		entries = append(entries, entry{name: program, mode: 0o777, link: "/testbox"})
	}
	return content{
		entries:    entries,
		standins:   map[string]string{standinImage: "", standinNonroot: "999"},
		entrypoint: []string{"/testbox"},
		command:    []string{"serve"},
		ports:      []string{"8080/tcp"},
	}, nil
}

// layer packs the entries into one layer.
func (c content) layer() (v1.Layer, error) {
	packed, err := pack(c.entries)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed)), nil
	})
}

// pack writes entries into a tar, in their order and with the fixed time.
func pack(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: fixedTime, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		switch {
		case e.link != "":
			header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
		case e.data == nil:
			header.Typeflag = tar.TypeDir
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.name, err)
		}
		if _, err := writer.Write(e.data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("finish packing: %w", err)
	}
	return packed.Bytes(), nil
}

// image returns the image of one name, with the shared layer.
func (c content) image(layer v1.Layer, name string) (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("append the layer of %s: %w", name, err)
	}
	ports := map[string]struct{}{}
	for _, port := range c.ports {
		ports[port] = struct{}{}
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of %s: %w", name, err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Created = v1.Time{Time: fixedTime}
	file.Config = v1.Config{
		Entrypoint:   c.entrypoint,
		Cmd:          c.command,
		ExposedPorts: ports,
		WorkingDir:   "/",
		Env:          []string{"PATH=/"},
		Labels:       map[string]string{nameLabel: name},
	}
	if user, ok := c.standins[name]; ok {
		file.Config.Entrypoint, file.Config.Cmd, file.Config.ExposedPorts = []string{"/standin"}, nil, nil
		file.Config.User, file.Config.Env = user, []string{standinPath}
	}
	return mutate.ConfigFile(image, file)
}
