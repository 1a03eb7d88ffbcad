package signed

import (
	"maps"
	"strings"
	"testing"
)

func TestTheFilesOfASetAreExactlyThoseOfItsManifest(t *testing.T) {
	t.Parallel()
	with := func(change map[string]string) map[string]string {
		sums := three()
		maps.Copy(sums, change)
		return sums
	}
	const (
		missing  = "allowed-images.wasm: set.toml lists it, but it is not in the set; put it back with what names it, or sign the set anew"
		unlisted = ": set.toml does not list it; remove it, or sign the set anew"
	)
	changed := "allowed-images.toml: its digest is " + sum(9) + ", but set.toml lists " + sum(1) + "; put back the file that was signed, or sign the set anew"
	for name, test := range map[string]struct {
		sums map[string]string
		want string
	}{
		"all of them":            {three(), ""},
		"a digest in capitals":   {with(map[string]string{"allowed-images.toml": strings.ToUpper(sum(1))}), ""},
		"a changed file":         {with(map[string]string{"allowed-images.toml": sum(9)}), changed},
		"a file too many":        {with(map[string]string{"b.toml": sum(1)}), "b.toml" + unlisted},
		"a file without content": {with(map[string]string{"allowed-images.toml": ""}), strings.Replace(changed, sum(9), "", 1)},
		"a file too few":         {map[string]string{"allowed-images.toml": sum(1), "tests/forbidden.yaml": sum(3)}, missing},
		"one under another name": {map[string]string{"allowed-images.toml": sum(1), "b.wasm": sum(2), "tests/forbidden.yaml": sum(3)}, missing + "\nb.wasm" + unlisted},
		"every reason, by path": {
			map[string]string{"allowed-images.toml": sum(9), "z": sum(1), "a": sum(1), "tests/forbidden.yaml": sum(3)},
			"a" + unlisted + "\n" + changed + "\n" + missing + "\nz" + unlisted,
		},
		"a name that steers":     {with(map[string]string{"b\n\x1b[2J.toml": sum(1)}), `b\n\x1b[2J.toml` + unlisted},
		"a name of great length": {with(map[string]string{strings.Repeat("ü", 4000): sum(1)}), strings.Repeat("ü", 100) + "…" + unlisted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := ParseManifest("set.toml", golden(t, "set.toml"))
			must(t, err)
			wants(t, m.Check(test.sums), test.want)
		})
	}
}

func TestASetWithoutPoliciesHasNoFiles(t *testing.T) {
	t.Parallel()
	m := &Manifest{Revision: 1}
	wants(t, m.Check(nil), "")
	wants(t, m.Check(map[string]string{"a.toml": sum(1)}), "a.toml: set.toml does not list it; remove it, or sign the set anew")
}
