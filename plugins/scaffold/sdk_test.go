package scaffold

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write sdk.zip anew")

const checkout = "../.."

// left reports whether a file of plugins/sdk is left out of the copies. These are the
// tests, and the files that only tests need.
func left(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/") || strings.HasPrefix(name, "conformance/") ||
		strings.HasPrefix(name, "internal/nodetest/") || strings.HasPrefix(name, "c/test/")
}

// sources returns the files of which the archive is made.
func sources(t *testing.T) (files []file) {
	t.Helper()
	add := func(name, from string) {
		text, err := os.ReadFile(filepath.Join(checkout, from))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{name, text})
	}
	root := filepath.Join(checkout, "plugins", "sdk")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || left(name) {
			return err
		}
		to := "go/" + name
		if strings.HasPrefix(name, "c/") {
			to = name
		}
		add(to, filepath.Join("plugins", "sdk", name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	add(license, license)
	return files
}

// pack returns the archive of files. It has no times, so that the same files make the same
// bytes.
func pack(t *testing.T, files []file) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, f := range files {
		out, err := w.CreateHeader(&zip.FileHeader{Name: f.path, Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func same(a, b file) bool { return a.path == b.path && bytes.Equal(a.text, b.text) }

func TestTheArchiveHoldsTheSDKs(t *testing.T) {
	want := sources(t)
	got, err := unpack(archive)
	if err == nil && slices.EqualFunc(got, want, same) {
		return
	}
	if !*update {
		t.Fatal("sdk.zip is not what plugins/sdk has: run go generate ./plugins/scaffold, and commit it")
	}
	if err := os.WriteFile("sdk.zip", pack(t, want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheSameSourcesMakeTheSameArchive(t *testing.T) {
	t.Parallel()
	files := sources(t)
	packed := pack(t, files)
	if !bytes.Equal(packed, pack(t, files)) {
		t.Error("the archive is another one each time")
	}
	got, err := unpack(packed)
	if err != nil || !slices.EqualFunc(got, files, same) {
		t.Errorf("unpacked are %d files of %d, %v", len(got), len(files), err)
	}
}

func TestAnArchiveThatIsTornIsAnError(t *testing.T) {
	t.Parallel()
	for _, torn := range [][]byte{nil, archive[:len(archive)/2]} {
		if _, err := unpack(torn); err == nil {
			t.Errorf("%d bytes of it are taken", len(torn))
		}
	}
	damaged := bytes.Clone(archive)
	damaged[200] ^= 0xff
	if _, err := unpack(damaged); err == nil {
		t.Error("a damaged file is taken")
	}
}
