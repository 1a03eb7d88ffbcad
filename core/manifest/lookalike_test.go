package manifest

import (
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func TestDecode_namesCharactersThatHideOrLookLikeOthers(t *testing.T) {
	t.Parallel()
	const (
		pod     = "apiVersion: v1\nkind: Pod\n"
		missing = "apiVersion is missing; a pod has apiVersion v1 and kind Pod"
	)
	for name, tc := range map[string]struct{ text, want string }{
		"zero-width space in a key": {"api\u200bVersion: v1\nkind: Pod\n", "1: " + missing + `; "api\u200bVersion" has U+200B, which is invisible`},
		"zero-width space before a key": {
			"apiVersion: v1\n\u200bkind: Pod\n", "2: kind is missing; a pod has apiVersion v1 and kind Pod" + `; "\u200bkind" has U+200B, which is invisible`,
		},
		"Cyrillic letter in a key":      {"\u0430piVersion: v1\nkind: Pod\n", "1: " + missing + `; "\u0430piVersion" has U+0430, a letter of the script Cyrillic`},
		"Greek letter in a field":       {pod + "metadata: {n\u03b1me: a}\nspec: {}\n", `3: metadata.n` + "\u03b1" + `me: unknown field; did you mean name?; "n\u03b1me" has U+03B1, a letter of the script Greek`},
		"Cyrillic letter in the kind":   {"apiVersion: v1\nkind: P\u043ed\n", "2: kind \"P\u043ed\" is not a Pod; a node runs nothing else" + `; "P\u043ed" has U+043E, a letter of the script Cyrillic`},
		"full-width digit":              {"apiVersion: v\uff11\nkind: Pod\n", "1: apiVersion \"v\uff11\" of a Pod is not supported; it is v1" + `; "v\uff11" has U+FF11, a full-width 1`},
		"no-break space after a colon":  {"apiVersion: v1\nkind:\u00a0Pod\nmetadata: {name: a}\n", "2: could not find expected ':'; line 2 has U+00A0, a no-break space"},
		"full-width colon":              {"# \u00a0\n" + pod + "spec\uff1a\n  x: 1\n", "4: could not find expected ':'; line 4 has U+FF1A, a full-width :"},
		"full-width colon below a key":  {pod + "metadata:\n  name\uff1a a\n", `3: metadata: expected an object, got a string; "name\uff1a a" has U+FF1A, a full-width :`},
		"a dash of another length":      {pod + "spec:\n  containers:\n  \u2013 name: a\n    image: b\n", "6: mapping values are not allowed in this context; line 5 has U+2013, a dash, but not the ordinary one"},
		"tab after a dash":              {pod + "spec:\n  containers:\n  -\tname: a\n    image: b\n", `5: a tab follows the "-" of this line; YAML takes spaces only`},
		"tab after two dashes":          {pod + "spec:\n  containers:\n  - -\tname: a\n", `5: a tab follows the "-" of this line; YAML takes spaces only`},
		"version of YAML":               {"# first\n%YAML 1.2\n---\n" + pod, "2: %YAML 1.2 is not supported; write %YAML 1.1, or leave the line out"},
		"an accent is no look-alike":    {"Gr\u00f6\u00dfe: v1\nkind: Pod\n", "1: " + missing},
		"neither is one in a comment":   {"apiVersion: v1\nkind Pod # a\u00a0b\nmetadata: {name: a}\n", "2: could not find expected ':'"},
		"a fault of ASCII is as before": {"apiVersion: v1\nkind Pod\nmetadata: {name: a}\n", "2: could not find expected ':'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := Decode([]byte(tc.text), DecodeFrom{Source: "static", Kind: api.KindFile, File: "web.yaml", NodeName: "edge"})
			if len(docs) == 0 || docs[0].Err == nil {
				t.Fatalf("documents %+v, want one that is refused", docs)
			}
			got, want := docs[0].Err.Error(), "web.yaml:"+tc.want
			if got != want {
				t.Errorf("error\n%q, want\n%q", got, want)
			}
		})
	}
}
