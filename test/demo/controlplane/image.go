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
		_ = layer.Close()           // it was only read since the last error that counts
		_ = os.Remove(layer.Name()) // in a directory that goes away with the namespace
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

// part is a file of an archive.
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

// size returns how long an open file is; 0 where that cannot be read, which the copy then shows.
func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
