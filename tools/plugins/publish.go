package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// publish writes groups of files by their paths below dir, one group after the other. It returns
// the paths of the files that were missing or different, in the order of writing.
func publish(dir string, groups ...map[string][]byte) (written []string, err error) {
	for _, files := range groups {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			path := filepath.Join(dir, name)
			changed, err := replace(path, files[name])
			if err != nil {
				return written, fmt.Errorf("write %s: %w", path, err)
			}
			if changed {
				written = append(written, name)
			}
		}
	}
	return written, nil
}

// replace replaces the content of the file at path atomically, and reports whether the content
// changed. An unfinished file has a hidden name, which an agent does not read.
func replace(path string, data []byte) (changed bool, err error) {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	temp, err := os.CreateTemp(dir, ".tmp-"+name+"-*")
	if err != nil {
		return false, err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(temp.Name()))
	}
	return true, nil
}
