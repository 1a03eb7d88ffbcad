package decisions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
)

const (
	// manifestName is the file of a bundle that says what is in it: of what a zip
	// archive says of its files, nothing has a checksum.
	manifestName = DirName + "/manifest"
	// manifestVersion is what this agent writes and reads.
	manifestVersion = 1
)

// bundleManifest is what is in a bundle.
type bundleManifest struct {
	Version int `json:"version"`
	// Records is how many records are in the segments.
	Records int `json:"records"`
	// Files are the digests of all other files, by name.
	Files map[string]string `json:"files"`
}

func newBundleManifest() bundleManifest {
	return bundleManifest{Version: manifestVersion, Files: map[string]string{}}
}

func (m *bundleManifest) text() ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return (&line{kind: lineManifest, body: body}).append(nil), nil
}

// errNoManifest is that nothing says what is in a bundle.
var errNoManifest = errors.New(`it has no manifest: it is damaged, or of an older version; "wardlet policy export" writes another`)

// manifest reads what a bundle must have in it, nil where that is damaged. The error
// is that there is none.
func (r *archiveReader) manifest() (*bundleManifest, error) {
	text, err := r.archive.read(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoManifest
	}
	m := &bundleManifest{}
	if err == nil {
		var one line
		var rest []byte
		one, rest, err = cutLine(text)
		if err == nil && (one.kind != lineManifest || len(rest) > 0) {
			err = errors.New("it is no manifest")
		}
		if err == nil {
			err = json.Unmarshal(one.body, m)
		}
		err = named(manifestName, err)
	}
	if err != nil {
		r.damaged = append(r.damaged, err)
		return nil, nil // it is among what is damaged
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("its manifest has the version %d, known is %d: use the wardlet that wrote it", m.Version, manifestVersion)
	}
	return m, nil
}

// hold compares the files of a bundle with its manifest. What is in segments is
// compared when they are read.
func (r *archiveReader) hold(m *bundleManifest) {
	there := map[string]bool{}
	err := fs.WalkDir(r.archive.files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		there[name] = true
		if m.Files[name] == "" && name != manifestName {
			r.damaged = append(r.damaged, fmt.Errorf("%s is not of this bundle", name))
		}
		return nil
	})
	if err != nil {
		r.damaged = append(r.damaged, err)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if !there[name] {
			r.damaged = append(r.damaged, fmt.Errorf("%s is missing", name))
			continue
		}
		if _, segment := segmentNumber(path.Base(name)); segment {
			continue
		}
		if text, err := r.archive.read(name); err != nil {
			r.damaged = append(r.damaged, err)
		} else if digestOf(text) != m.Files[name] {
			r.damaged = append(r.damaged, anotherFile(name))
		}
	}
}

func anotherFile(name string) error {
	return fmt.Errorf("%s is not what the bundle was written with", name)
}
