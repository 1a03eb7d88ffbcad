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
	// manifestName is the file of a bundle that lists its content, because a zip archive has no
	// checksum over its list of files.
	manifestName = DirName + "/manifest"
	// manifestVersion is the version that this agent writes and reads.
	manifestVersion = 1
)

// bundleManifest lists the content of a bundle.
type bundleManifest struct {
	Version int `json:"version"`
	// Records is the number of records in the segments.
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

// errNoManifest is the error for a bundle without a manifest.
var errNoManifest = errors.New(`it has no manifest: it is damaged, or of an older version; "wardlet policy export" writes another`)

// manifest reads the manifest of a bundle, nil if it is damaged. The error says that there is none,
// or that its version is unknown.
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
		return nil, nil // it was added to damaged
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("its manifest has the version %d, known is %d: use the wardlet that wrote it", m.Version, manifestVersion)
	}
	return m, nil
}

// hold compares the files of a bundle with its manifest. The content of segments is compared later,
// when they are read.
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
