package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// indexFile lists the archives of a directory and the names in each.
const indexFile = "images.json"

// archive is one docker archive, with the names of its images.
type archive struct {
	File  string   `json:"file"`
	Names []string `json:"names"`
}

// Images that stand in for other images. The program of one runs as root, the other one's as a user
// with a number.
const (
	standinImage   = "registry.wardlet.test/standin:1"
	standinNonroot = "registry.wardlet.test/standin:nonroot"
)

// archives returns the archives that build writes. The registry serves the first name of test.tar.
func archives() []archive {
	return []archive{
		{File: "pause.tar", Names: []string{"registry.wardlet.test/pause:1"}},
		{File: "test.tar", Names: []string{
			"registry.wardlet.test/test:1",
			"registry.example/web:1",
			"registry.example/web:2",
			"untrusted.example/web:1",
			standinImage,
			standinNonroot,
		}},
	}
}

// buildArchives writes every archive, and the index last, so that an index always names complete archives.
func buildArchives(pause, testbox, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make the image directory: %w", err)
	}
	pauseFiles, err := pauseContent(pause)
	if err != nil {
		return err
	}
	testFiles, err := testContent(testbox)
	if err != nil {
		return err
	}
	all := archives()
	for i, files := range []content{pauseFiles, testFiles} {
		if err := writeArchive(filepath.Join(out, all[i].File), files, all[i].Names); err != nil {
			return err
		}
	}
	index, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the image index: %w", err)
	}
	return replaceFile(filepath.Join(out, indexFile), func(temporary string) error {
		return os.WriteFile(temporary, append(index, '\n'), 0o644)
	})
}

// writeArchive writes a docker archive: a configuration per name, the shared layer, and the
// manifest that connects them. (The library's own writer iterates over a map, and so writes
// different bytes each time.)
func writeArchive(path string, files content, names []string) error {
	layer, err := files.layer()
	if err != nil {
		return err
	}
	layerFile, layerData, err := packLayer(layer)
	if err != nil {
		return err
	}
	entries := []entry{{name: layerFile, mode: 0o644, data: layerData}}
	var manifest tarball.Manifest
	for _, reference := range names {
		tag, err := name.NewTag(reference, name.StrictValidation)
		if err != nil {
			return fmt.Errorf("image name %q: %w", reference, err)
		}
		image, err := files.image(layer, reference)
		if err != nil {
			return err
		}
		id, err := image.ConfigName()
		if err != nil {
			return fmt.Errorf("image ID of %s: %w", reference, err)
		}
		config, err := image.RawConfigFile()
		if err != nil {
			return fmt.Errorf("configuration of %s: %w", reference, err)
		}
		entries = append(entries, entry{name: id.Hex + ".json", mode: 0o644, data: config})
		manifest = append(manifest, tarball.Descriptor{
			Config: id.Hex + ".json", RepoTags: []string{tag.String()}, Layers: []string{layerFile},
		})
	}
	data, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encode the manifest of %s: %w", path, err)
	}
	packed, err := pack(append(entries, entry{name: "manifest.json", mode: 0o644, data: data}))
	if err != nil {
		return err
	}
	return replaceFile(path, func(temporary string) error {
		return os.WriteFile(temporary, packed, 0o644)
	})
}

// packLayer returns a layer as it is stored, and the name of its file.
func packLayer(layer v1.Layer) (file string, data []byte, err error) {
	digest, err := layer.Digest()
	if err != nil {
		return "", nil, fmt.Errorf("digest of the layer: %w", err)
	}
	compressed, err := layer.Compressed()
	if err != nil {
		return "", nil, fmt.Errorf("compress the layer: %w", err)
	}
	data, err = io.ReadAll(compressed)
	if err := errors.Join(err, compressed.Close()); err != nil {
		return "", nil, fmt.Errorf("compress the layer: %w", err)
	}
	return digest.Hex + ".tar.gz", data, nil
}

// replaceFile calls write with a temporary file beside path, and then renames that file to path.
func replaceFile(path string, write func(temporary string) error) error {
	temporary := path + ".new"
	if err := write(temporary); err != nil {
		return fmt.Errorf("write %s: %w", temporary, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("put %s in place: %w", path, err)
	}
	return nil
}
