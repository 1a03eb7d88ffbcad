package signed

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/strict"
)

// head is the shortest valid manifest; further keys begin at line 3.
const head = "api = \"wardlet.dev/v1\"\nrevision = 7\n"

// listing returns a manifest of these paths; the first path is in line 4.
func listing(paths ...string) string {
	text := []byte(head)
	for _, path := range paths {
		text = fmt.Appendf(text, "[[file]]\npath = %s\nsha256 = %q\n", quoted(path), sum(1))
	}
	return string(text)
}

func TestAManifestSays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want Manifest
	}{
		"nothing but a revision, of a set without policies": {head, Manifest{Revision: 7}},
		"the greatest revision":                             {strings.Replace(head, "7", "9223372036854775807", 1), Manifest{Revision: MaxRevision}},
		"files, in its own order":                           {listing("b", "a/b.wasm"), Manifest{7, []File{{"b", sum(1)}, {"a/b.wasm", sum(1)}}}},
		"digests in capitals":                               {strings.ReplaceAll(listing("a"), sum(1), strings.Repeat("AB", 32)), Manifest{7, []File{{"a", strings.Repeat("ab", 32)}}}},
		"what else is named so, below":                      {listing("a/set.toml"), Manifest{7, []File{{"a/set.toml", sum(1)}}}},
		"what the program's golden manifest lists": {string(golden(t, "set.toml")), Manifest{7, []File{
			{"allowed-images.toml", sum(1)}, {"allowed-images.wasm", sum(2)}, {"tests/forbidden.yaml", sum(3)},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := ParseManifest("DIR/set.toml", []byte(test.text))
			must(t, err)
			if diff := cmp.Diff(&test.want, m); diff != "" {
				t.Errorf("manifest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAManifestIsRefusedFor(t *testing.T) {
	t.Parallel()
	const plain = "DIR/set.toml:4: file.path: want a plain path below the directory of the set, found "
	for name, test := range map[string]struct{ text, want string }{
		"no TOML":                        {"api = \n", "DIR/set.toml:1: expected value but found '\\n' instead"},
		"a path that is no text":         {listing("a\xff"), "DIR/set.toml:4: invalid UTF-8 byte: 0xff"},
		"another version, and only that": {"nome = 1\napi = \"wardlet.dev/v2\"\n", `DIR/set.toml:2: api: "wardlet.dev/v2" is not supported in this version; want "wardlet.dev/v1"`},
		"a version that is none":         {"api = 1\n", `DIR/set.toml:1: api: "1" is not supported in this version; want "wardlet.dev/v1"`},
		"being something else":           {"[paths]\nstate_root = \"/x\"\n", `DIR/set.toml: api: missing; the manifest of a signed set begins with api = "wardlet.dev/v1"`},
		"no version":                     {"revision = 7\n", `DIR/set.toml: api: missing; the manifest of a signed set begins with api = "wardlet.dev/v1"`},
		"being empty":                    {"", `DIR/set.toml: api: missing; the manifest of a signed set begins with api = "wardlet.dev/v1"`},
		"being a policy": {"api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\n", "DIR/set.toml:2: name: unknown key; known here are api, revision, file\n" +
			"DIR/set.toml:3: module: unknown key; known here are api, revision, file"},
		"an unknown key":                   {head + "revison = 3\n", `DIR/set.toml:3: revison: unknown key; did you mean "revision"?`},
		"an unknown key of a file":         {head + "[[file]]\npaths = \"a\"\n", `DIR/set.toml:4: file.paths: unknown key; did you mean "path"?`},
		"no revision":                      {"api = \"wardlet.dev/v1\"\n", "DIR/set.toml: revision: missing; a set that is signed for the first time has revision = 1"},
		"revision 0":                       {strings.Replace(head, "7", "0", 1), "DIR/set.toml:2: revision: want 1 or more, found 0"},
		"a revision below":                 {strings.Replace(head, "7", "-1", 1), "DIR/set.toml:2: revision: want 1 or more, found -1"},
		"a revision too great":             {strings.Replace(head, "7", "9223372036854775808", 1), "DIR/set.toml:2: 9223372036854775808 is out of range for int64"},
		"a revision that is text":          {strings.Replace(head, "7", "\"7\"", 1), `DIR/set.toml:2: revision: want an integer, found the string "7"`},
		"one file, as a table":             {head + "[file]\npath = \"a\"\n", "DIR/set.toml:3: file: want an array of tables (write [[file]]), found a table"},
		"a file without a path":            {head + "[[file]]\nsha256 = \"" + sum(1) + "\"\n", "DIR/set.toml:3: file.path: missing; name a file of the set, relative to its directory"},
		"an absolute path":                 {listing("/a"), plain + `"/a"`},
		"a path above":                     {listing("../a"), plain + `"../a"`},
		"a path above, on a detour":        {listing("a/../../a"), plain + `"a/../../a"`},
		"a detour":                         {listing("a/../b"), plain + `"a/../b"`},
		"a path with a dot":                {listing("./a"), plain + `"./a"`},
		"a path of two slashes":            {listing("a//b"), plain + `"a//b"`},
		"a path of a directory":            {listing("a/"), plain + `"a/"`},
		"the directory itself":             {listing("."), plain + `"."`},
		"a path with a zero":               {listing("a\x00b"), `DIR/set.toml:4: file.path: want a path of printable characters, found "a\x00b"; rename the file`},
		"a path that steers":               {listing("a\x1b[2J"), `DIR/set.toml:4: file.path: want a path of printable characters, found "a\x1b[2J"; rename the file`},
		"a path of two lines":              {listing("a\nb"), `DIR/set.toml:4: file.path: want a path of printable characters, found "a\nb"; rename the file`},
		"a path that reads from the right": {listing("a\u202eb"), `DIR/set.toml:4: file.path: want a path of printable characters, found "a\u202eb"; rename the file`},
		"itself":                           {listing("set.toml"), "DIR/set.toml:4: file.path: set.toml is not a file of the set it describes; leave it out"},
		"its own signature":                {listing("set.toml.minisig"), "DIR/set.toml:4: file.path: set.toml.minisig is not a file of the set it describes; leave it out"},
		"a path twice":                     {listing("a", "b", "a"), `DIR/set.toml:10: file.path: "a" stands twice; list it once`},
		"a file and no digest":             {head + "[[file]]\npath = \"a\"\n", `DIR/set.toml:3: file.sha256: want 64 hexadecimal digits, found ""`},
		"a short digest":                   {strings.ReplaceAll(listing("a"), sum(1), sum(1)[2:]), "DIR/set.toml:5: file.sha256: want 64 hexadecimal digits, found \"" + sum(1)[2:] + "\""},
		"a digest of letters":              {strings.ReplaceAll(listing("a"), sum(1), strings.Repeat("xy", 32)), "DIR/set.toml:5: file.sha256: want 64 hexadecimal digits, found \"" + strings.Repeat("xy", 32) + "\""},
		"too many files":                   {head + "file = [" + strings.Repeat("{},", MaxFiles) + "{}]\n", "DIR/set.toml:3: file: 2049 files, more than the 2048 a signed set may have"},
		"its length":                       {head + strings.Repeat("#", strict.MaxSize), fmt.Sprintf("DIR/set.toml: %d bytes long, more than the 262144 a document may have", strict.MaxSize+len(head))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseManifest("DIR/set.toml", []byte(test.text))
			wants(t, err, test.want)
		})
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add(golden(f, "set.toml"))
	f.Add([]byte(head))
	f.Add([]byte(listing("a", "a", "../b", "set.toml", "a\x1b")))
	f.Add([]byte("api = 1\nfile = [{path = \"a\"}, 1]\nrevision = -1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest("set.toml", text)
		if err != nil {
			if _, ok := errors.AsType[strict.Errors](err); !ok {
				t.Fatalf("error of type %T", err)
			}
			return
		}
		sums := map[string]string{}
		for _, file := range m.Files {
			sums[file.Path] = file.SHA256
		}
		if len(sums) != len(m.Files) || m.Revision == 0 || m.Revision > MaxRevision {
			t.Fatalf("accepted %+v", m)
		}
		must(t, m.Check(sums))
		// The manifest that Build makes of the parsed values must have the same values.
		again, err := ParseManifest("set.toml", Build(m.Revision, sums))
		if err != nil && len(Build(m.Revision, sums)) <= strict.MaxSize {
			t.Fatal(err)
		}
		if err == nil && (again.Revision != m.Revision || len(again.Files) != len(m.Files)) {
			t.Errorf("built again it says %+v, want %+v", again, m)
		}
	})
}
