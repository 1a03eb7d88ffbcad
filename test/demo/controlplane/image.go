package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// writeImage writes a docker archive with one image: a single program in /usr/local/bin.
func writeImage(archive, ref, name, program string) (err error) {
	layer, err := os.CreateTemp("", "layer-")
	if err != nil {
		return err
	}
	defer func() {
		_ = layer.Close()           // since the last checked error, the file was only read
		_ = os.Remove(layer.Name()) // the directory is removed with the namespace anyway
	}()
	sum := sha256.New()
	if err := writeLayer(io.MultiWriter(layer, sum), name, program); err != nil {
		return err
	}
	if _, err := layer.Seek(0, io.SeekStart); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": "amd64", "os": "linux",
		"config": map[string]any{"Env": []string{"PATH=/usr/local/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sum.Sum(nil))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{ref}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	return writeTar(archive, []part{
		{"config.json", int64(len(config)), bytes.NewReader(config)},
		{"manifest.json", int64(len(manifest)), bytes.NewReader(manifest)},
		{"layer.tar", size(layer), layer},
	})
}

// part is a file in an archive.
type part struct {
	name    string
	size    int64
	content io.Reader
}

func writeTar(file string, parts []part) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	for _, p := range parts {
		if err = w.WriteHeader(&tar.Header{Name: p.name, Mode: 0o644, Size: p.size}); err != nil {
			break
		}
		if _, err = io.Copy(w, p.content); err != nil {
			break
		}
	}
	if err == nil {
		err = w.Close()
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

func writeLayer(to io.Writer, name, program string) error {
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(to)
	for _, dir := range []string{"tmp/", "usr/", "usr/local/", "usr/local/bin/"} {
		if err := w.WriteHeader(&tar.Header{Name: dir, Mode: 0o755, Typeflag: tar.TypeDir}); err != nil {
			return err
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "usr/local/bin/" + name, Mode: 0o755, Size: size(f)}); err != nil {
		return err
	}
	if _, err := io.Copy(w, f); err != nil {
		return err
	}
	return w.Close()
}

// size returns the size of an open file, or 0 if it cannot be read. The copy of the file then
// fails.
func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
