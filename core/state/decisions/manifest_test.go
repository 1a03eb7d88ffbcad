package decisions

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// zipped returns a bundle as a zip archive, as it is exported.
func zipped(t *testing.T, files fstest.MapFS) []byte {
	t.Helper()
	var text bytes.Buffer
	archive := zip.NewWriter(&text)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Unix(0, 0).UTC()})
		check(t, err)
		_, err = w.Write(files[name].Data)
		check(t, err)
	}
	check(t, archive.Close())
	return text.Bytes()
}

// toldOf calls told for a zip archive.
func toldOf(text []byte) (names, faults []string) {
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, []string{err.Error()}
	}
	return told(BundleFiles(archive))
}

func everything(*Record) bool { return true }

func TestAnyBitOfABundleThatIsAnotherIsNoticedOrChangesNothing(t *testing.T) {
	t.Parallel()
	files, err := bundled(t, aFewRecords(t), everything)
	check(t, err)
	good := zipped(t, files)
	want, faults := toldOf(good)
	if len(want) != 4 || len(faults) > 0 {
		t.Fatalf("%q, faults %q", want, faults)
	}
	noticed, tried := 0, 0
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	for at := range good {
		flips := []byte{1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0xff}
		if at < directory { // this part has checksums
			flips = []byte{1 << (at % 8), 0xff}
		}
		for _, flip := range flips {
			tried++
			text := slices.Clone(good)
			text[at] ^= flip
			got, faults := toldOf(text)
			if len(faults) > 0 {
				noticed++
			} else if !slices.Equal(got, want) {
				t.Errorf("byte %d is %#x instead of %#x (at %q), and nobody notices: %q", at, text[at], good[at], good[max(0, at-10):min(len(good), at+10)], got)
			}
		}
	}
	if noticed < tried/2 {
		t.Errorf("only %d of %d changes are noticed", noticed, tried)
	}
}

func TestABundleIsWhatItsManifestSays(t *testing.T) {
	t.Parallel()
	const first, second = "decisions/operator/0000000000000001.log", "decisions/tenant-a/0000000000000001.log"
	module := "decisions/policies/" + digestOf([]byte("module two")) + fileSuffix
	for name, c := range map[string]struct {
		harm   func(fstest.MapFS)
		faults []string
		read   int
	}{
		"a segment is missing":        {func(f fstest.MapFS) { delete(f, second) }, []string{second + " is missing"}, 3},
		"a segment has another name":  {func(f fstest.MapFS) { f["decisions/x"] = f[second]; delete(f, second) }, []string{"decisions/x is not of this bundle", second + " is missing"}, 3},
		"there is a file more":        {func(f fstest.MapFS) { f["more"] = f[second] }, []string{"more is not of this bundle"}, 4},
		"a segment is no file":        {func(f fstest.MapFS) { f[second].Mode |= fs.ModeSymlink }, []string{second + " is no regular file"}, 3},
		"a line is gone":              {func(f fstest.MapFS) { f[second].Data = without(f[second].Data, "cache") }, []string{second + " is not what the bundle was written with"}, 3},
		"a segment is twice as long":  {func(f fstest.MapFS) { f[second].Data = append(f[second].Data, f[second].Data...) }, []string{second + " is not what the bundle was written with"}, 5},
		"a file of a policy is other": {func(f fstest.MapFS) { f[module].Data = append(f[module].Data, 0) }, []string{module + " is not what", module + ": unexpected EOF"}, 4},
		"a file of a policy is gone":  {func(f fstest.MapFS) { delete(f, module) }, []string{module + " is missing", "open " + module}, 4},
		"the manifest is damaged":     {func(f fstest.MapFS) { f[manifestName].Data[30]++ }, []string{manifestName + ": the checksum"}, 4},
		"the manifest is long": {
			func(f fstest.MapFS) { f[manifestName].Data = append(f[manifestName].Data, f[first].Data...) }, []string{manifestName + ": it is no manifest"}, 4,
		},
		"the manifest names more records": {
			func(f fstest.MapFS) {
				f[manifestName].Data = manifestWith(t, f, func(m *bundleManifest) { m.Records = 5 })
			},
			[]string{"names 5 records, there are 4"},
			4,
		},
		"the manifest is of a newer version": {
			func(f fstest.MapFS) {
				f[manifestName].Data = manifestWith(t, f, func(m *bundleManifest) { m.Version = 2 })
			},
			[]string{"use the wardlet that wrote it"},
			0,
		},
		"there is no manifest": {func(f fstest.MapFS) { delete(f, manifestName) }, []string{"it has no manifest: it is damaged, or of an older version"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := bundled(t, aFewRecords(t), everything)
			check(t, err)
			c.harm(files)
			read, faults := told(BundleFiles(files))
			slices.Sort(faults)
			wrong := len(faults) != len(c.faults) || len(read) != c.read
			for i := range min(len(faults), len(c.faults)) {
				wrong = wrong || !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.faults[i]) })
			}
			if wrong {
				t.Errorf("%d records read, faults %q", len(read), faults)
			}
		})
	}
}

// manifestWith returns the manifest of a bundle after a change, with a valid checksum.
func manifestWith(t *testing.T, files fstest.MapFS, change func(*bundleManifest)) []byte {
	t.Helper()
	r := &archiveReader{archive: NewArchive(files)}
	m, err := r.manifest()
	check(t, err)
	change(m)
	text, err := m.text()
	check(t, err)
	return text
}

// without removes the record that contains a word.
func without(text []byte, word string) (left []byte) {
	for one := range bytes.Lines(text) {
		if l, _, err := cutLine(one); err != nil || l.kind != lineRecord || !bytes.Contains(one, fmt.Appendf(nil, "%q", word)) {
			left = append(left, one...)
		}
	}
	return left
}
