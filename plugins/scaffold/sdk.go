package scaffold

import (
	"archive/zip"
	"bytes"
	_ "embed" // the archive
	"fmt"
	"io"
	"strings"
)

// archive is a zip file with LICENSE and a folder for each language, which has the SDK of
// the language.
//
//go:embed sdk.zip
var archive []byte

// license is the name of the file with the license of the SDKs.
const license = "LICENSE"

// sdk returns the files of a language's SDK. Their paths begin with sdk/.
func sdk(language string) ([]file, error) {
	all, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, f := range all {
		if name, ok := strings.CutPrefix(f.path, language+"/"); ok {
			files = append(files, file{"sdk/" + name, f.text})
		} else if f.path == license {
			files = append(files, file{"sdk/" + license, f.text})
		}
	}
	return files, nil
}

// unpack returns the files of an archive, in the order of the archive.
func unpack(packed []byte) ([]file, error) {
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("the SDKs in this binary cannot be read: %w", err)
	}
	files := make([]file, 0, len(r.File))
	for _, entry := range r.File {
		in, err := entry.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("%s of the SDKs in this binary cannot be read: %w", entry.Name, err)
		}
		files = append(files, file{entry.Name, text})
	}
	return files, nil
}
