package signed

import (
	"bytes"
	"maps"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestABuiltManifestIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	for range 20 { // map order must not matter
		if got := Build(7, three()); !bytes.Equal(got, golden(t, "set.toml")) {
			t.Fatalf("built\n%s", got)
		}
	}
}

func TestABuiltManifestIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	for name, sums := range map[string]map[string]string{
		"no files":               {},
		"files":                  three(),
		"a quote":                {`a"b`: sum(1), `"`: sum(2)},
		"a backslash":            {`a\b`: sum(1), `\u0041`: sum(2)},
		"other scripts":          {"ä/日本.toml": sum(1)},
		"keys in its name":       {"path = 'x'": sum(1), "[[file]]": sum(2), "# x": sum(3)},
		"blanks at both ends":    {" a ": sum(1)},
		"what looks like a list": {"a,b": sum(1), "a": sum(2), "b": sum(3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := ParseManifest("set.toml", Build(3, sums))
			must(t, err)
			got := map[string]string{}
			for _, f := range m.Files {
				got[f.Path] = f.SHA256
			}
			if diff := cmp.Diff(sums, got); diff != "" || m.Revision != 3 {
				t.Errorf("revision %d, files (-want +got):\n%s", m.Revision, diff)
			}
		})
	}
}

func TestWhatCannotHaveAManifestIsNotSigned(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range MaxFiles + 1 {
		many[strconv.Itoa(i)] = sum(i)
	}
	with := func(path, digest string) map[string]string {
		sums := three()
		maps.Copy(sums, map[string]string{path: digest})
		return sums
	}
	const cannot = "the set cannot have a manifest that would be accepted:\nset.toml"
	for name, test := range map[string]struct {
		revision uint64
		sums     map[string]string
		want     string
	}{
		"revision 0":             {0, three(), cannot + ":3: revision: want 1 or more, found 0"},
		"a revision too great":   {1 << 63, three(), cannot + ":3: 9223372036854775808 is out of range for int64"},
		"a path that is no text": {1, with("a\xff", sum(1)), `want a path of printable characters, found "a\xff"; rename the file`},
		"a path that steers":     {1, with("a\nb", sum(1)), `want a path of printable characters, found "a\nb"; rename the file`},
		"its own manifest":       {1, with("set.toml", sum(1)), "set.toml is not a file of the set it describes; leave it out"},
		"no digest":              {1, map[string]string{"a": ""}, cannot + `:7: file.sha256: want 64 hexadecimal digits, found ""`},
		"too many files":         {1, many, cannot + ":5: file: 2049 files, more than the 2048 a signed set may have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Sign(test.revision, test.sums, secretKey(t), noon)
			wants(t, err, test.want)
		})
	}
}
