package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The languages and the hooks for which there is a scaffold, the default first.
var (
	Languages = []string{"go", "c"}
	Hooks     = []string{"admit", "merge", "filter", "connect"}
)

// Options describe the folder to make.
type Options struct {
	// Name is the policy's name, a DNS label. Language is one of Languages, and Hook one of
	// Hooks.
	Name, Language, Hook string
	// Dir is the folder, which must be empty or missing.
	Dir string
}

// Check returns an error if the name, the language or the hook is invalid.
func (o *Options) Check() error {
	if faults := validation.IsDNS1123Label(o.Name); len(faults) > 0 {
		return fmt.Errorf("%q cannot be the name of a policy, which is a DNS label: %s", o.Name, strings.Join(faults, ", "))
	}
	if o.Name == "set" {
		return errors.New("set.toml is the list of files of a signed set, so no policy with its document can have the name \"set\"; choose another")
	}
	if !slices.Contains(Languages, o.Language) {
		return fmt.Errorf("there is no scaffold in %q; want %s", o.Language, strings.Join(Languages, ", "))
	}
	if !slices.Contains(Hooks, o.Hook) {
		return fmt.Errorf("there is no hook %q; want %s", o.Hook, strings.Join(Hooks, ", "))
	}
	return nil
}

// New writes the files, and returns their paths below Dir, sorted and without the files of
// the SDK. It overwrites nothing: if the folder is not empty, it returns an error.
func New(o Options) ([]string, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	files, err := render(&o)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].path
	}
	copied, err := sdk(o.Language)
	if err != nil {
		return nil, err
	}
	if err := empty(o.Dir); err != nil {
		return nil, err
	}
	for _, f := range append(files, copied...) {
		if err := f.write(o.Dir); err != nil {
			return nil, fmt.Errorf("%s is not complete, remove it: %w", o.Dir, err)
		}
	}
	return names, nil
}

// file is a file to write.
type file struct {
	// path is the path below the folder, with slashes.
	path string
	text []byte
}

// empty makes the folder if it is missing, and returns an error if it is not empty.
func empty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the folder cannot be made: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty, it holds %s; name a folder that is empty or missing", dir, entries[0].Name())
	}
	return nil
}

// write writes the file, which must not exist yet.
func (f *file) write(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(f.path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(path, ".sh") {
		mode = 0o755
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.text)
	return errors.Join(err, out.Close())
}
