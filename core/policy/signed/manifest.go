package signed

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// The names of the two files, directly in the directory of the set.
const (
	ManifestName  = "set.toml"
	SignatureName = "set.toml.minisig"
)

// MaxFiles is the greatest number of files that a manifest lists. Its text has at most
// strict.MaxSize bytes, so with long paths fewer files fit.
const MaxFiles = 2048

// MaxRevision is the greatest revision: TOML has no greater integer.
const MaxRevision uint64 = math.MaxInt64

// apiVersion is the value of the key api. It decodes only if it is apiV1.
type apiVersion string

const apiV1 apiVersion = "wardlet.dev/v1"

const noAPI = "missing; the manifest of a signed set begins with api = \"" + string(apiV1) + "\""

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *apiVersion) UnmarshalText(text []byte) error {
	if string(text) != string(apiV1) {
		return fmt.Errorf("%.80q is not supported in this version; want %q", text, apiV1)
	}
	*v = apiV1
	return nil
}

// Manifest lists the files of a set.
type Manifest struct {
	// Revision is 1 to MaxRevision.
	Revision uint64
	// Files are the files in the order of the manifest: at most MaxFiles, none for a set
	// without policies.
	Files []File
}

// File is one file of a set.
type File struct {
	// Path is relative to the directory of the set, with slashes.
	Path string
	// SHA256 is the digest, 64 lowercase hexadecimal digits.
	SHA256 string
}

// keys are the keys of a manifest.
type keys struct {
	API apiVersion `toml:"api"`
	// Revision is nil if it is missing.
	Revision *int64    `toml:"revision"`
	Files    []fileKey `toml:"file"`
}

type fileKey struct {
	Path   string `toml:"path"`
	SHA256 string `toml:"sha256"`
}

// ParseManifest decodes and checks a manifest, which file names in errors. The
// error is strict.Errors.
func ParseManifest(file string, text []byte) (*Manifest, error) {
	var k keys
	if err := strict.Decode(file, text, &k, k.check); err != nil {
		return nil, k.ofAPI(file, err)
	}
	m := &Manifest{Revision: uint64(*k.Revision)}
	for _, f := range k.Files {
		m.Files = append(m.Files, File{f.Path, strings.ToLower(f.SHA256)})
	}
	return m, nil
}

// check reports errors in keys that were decoded.
func (k *keys) check(report strict.Report) {
	if k.API != apiV1 {
		report("api", noAPI)
	}
	switch {
	case k.Revision == nil:
		report("revision", "missing; a set that is signed for the first time has revision = 1")
	case *k.Revision < 1:
		report("revision", "want 1 or more, found %d", *k.Revision)
	}
	if len(k.Files) > MaxFiles {
		report("file", "%d files, more than the %d a signed set may have", len(k.Files), MaxFiles)
		return
	}
	seen := map[string]bool{}
	for i, f := range k.Files {
		key := fmt.Sprintf("file[%d]", i)
		fault := faultOfPath(f.Path)
		if fault == "" && seen[f.Path] {
			fault = fmt.Sprintf("%.200q stands twice; list it once", f.Path)
		}
		if fault != "" {
			report(key+".path", "%s", fault)
		}
		seen[f.Path] = true
		if _, err := hex.DecodeString(f.SHA256); err != nil || len(f.SHA256) != 64 {
			report(key+".sha256", "want 64 hexadecimal digits, found %.80q", f.SHA256)
		}
	}
}

// ofAPI reduces the faults of a manifest to the one that explains the others: the text has
// another version, or is no manifest at all.
func (k *keys) ofAPI(file string, err error) error {
	faults, ok := errors.AsType[strict.Errors](err)
	if !ok || k.API == apiV1 {
		return err
	}
	for _, f := range faults {
		if f.Key == "api" {
			return strict.Errors{f}
		}
		if f.Key == "" {
			return err // the manifest was not decoded
		}
	}
	return strict.Errors{{File: file, Key: "api", Message: noAPI}}
}

// faultOfPath returns the fault of a file's path, "" if it has none.
func faultOfPath(name string) string {
	switch {
	case name == "":
		return "missing; name a file of the set, relative to its directory"
	case !filepath.IsLocal(name), path.Clean(name) != name, name == ".":
		return fmt.Sprintf("want a plain path below the directory of the set, found %.200q", name)
	case !utf8.ValidString(name), printable.Line(name) != name:
		return fmt.Sprintf("want a path of printable characters, found %.200q; rename the file", name)
	case name == ManifestName || name == SignatureName:
		return name + " is not a file of the set it describes; leave it out"
	}
	return ""
}
