package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// templates is the directory of the policy documents. Their tests are in its subdirectory "tests".
const templates = "policies"

// The lines of a template that are read or filled in. Every template has them in this form, so that
// the digest can be filled in without any other change.
var (
	moduleLine = regexp.MustCompile(`(?m)^module = "([^"]*)"$`)
	digestLine = regexp.MustCompile(`(?m)^sha256 = ""$`)
)

// documents returns the policy documents by name, with the digests of their modules.
func documents(root string, modules map[string][]byte) (map[string][]byte, error) {
	files, err := filepath.Glob(filepath.Join(root, templates, "*.toml"))
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if all[filepath.Base(file)], err = fill(text, modules); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// fill writes a module's digest into the document that names it.
func fill(text []byte, modules map[string][]byte) ([]byte, error) {
	named := moduleLine.FindAllSubmatch(text, -1)
	if len(named) != 1 {
		return nil, fmt.Errorf(`want one line module = "NAME.wasm", found %d`, len(named))
	}
	name := string(named[0][1])
	module, ok := modules[name]
	if !ok {
		return nil, fmt.Errorf("no plugin in %s builds the module %s", examples, name)
	}
	if found := len(digestLine.FindAll(text, -1)); found != 1 {
		return nil, fmt.Errorf(`want one line sha256 = "", found %d`, found)
	}
	sum := sha256.Sum256(module)
	return digestLine.ReplaceAll(text, []byte(`sha256 = "`+hex.EncodeToString(sum[:])+`"`)), nil
}

// tests returns the files of the tests directory. Their paths are relative to the documents.
func tests(root string) (map[string][]byte, error) {
	all := map[string][]byte{}
	base := filepath.Join(root, templates)
	err := filepath.WalkDir(filepath.Join(base, "tests"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(base, path)
		if err == nil {
			all[name], err = os.ReadFile(path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	return all, err
}
