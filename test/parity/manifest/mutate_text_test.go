package manifest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
)

// scraps are pieces of text that mean something to a parser of YAML or JSON.
var scraps = []string{
	"---\n", "\n---\n", "...\n", "# text\n", " # text", "\t", " ", "  ", "\n", "\r\n", "\r", "{", "}", "[", "]", ",", ":", ": ", "- ", "? ", "&a ", "*a", "*a ",
	"<<: *a\n", "<<: {a: b}\n", "|\n", ">-\n", `"`, "'", `\`, `\/`, `\u0041`, `\ud83d\ude00`, `\ud83d`, `\x41`, "!!str ", "!!int ", "!!binary ", "!mine ",
	"%YAML 1.1\n---\n", "%", "@", "`", "~", "null", "yes", "0x1f", "0o17", "1_000", "1:20", "1e3", ".5", ".inf", "2026-01-02", "\x00", "\x7f", "\u0085",
	"\u2028", "\ufeff", "é", "😀", "\xff", "a", "7", "Pod", "hostNetwork: true\n", "  hostNetwork: true\n", "metadata: {name: b}\n", `"a": 1,`,
}

// cutText changes one thing in a text.
func cutText(r *rand.Rand, text []byte) []byte {
	if len(text) == 0 {
		return []byte(pick(r, scraps))
	}
	at := r.IntN(len(text))
	lines := bytes.SplitAfter(text, []byte("\n"))
	line := r.IntN(len(lines))
	switch r.IntN(12) {
	case 0:
		return slices.Delete(slices.Clone(text), at, at+1)
	case 1, 2, 3:
		return slices.Insert(slices.Clone(text), at, []byte(pick(r, scraps))...)
	case 4:
		return slices.Replace(slices.Clone(text), at, at+1, []byte(pick(r, scraps))...)
	case 5:
		return bytes.Join(slices.Delete(lines, line, line+1), nil)
	case 6:
		return bytes.Join(slices.Insert(lines, r.IntN(len(lines)), lines[line]), nil)
	case 7:
		other := r.IntN(len(lines))
		lines[line], lines[other] = lines[other], lines[line]
		return bytes.Join(lines, nil)
	case 8:
		lines[line] = append([]byte(strings.Repeat(" ", 1+r.IntN(4))), lines[line]...)
		return bytes.Join(lines, nil)
	case 9:
		lines[line] = bytes.TrimPrefix(lines[line], []byte("  "))
		return bytes.Join(lines, nil)
	case 10:
		return slices.Clone(text[:at])
	default:
		other := pick(r, ancestors().texts)
		if other == "" {
			return text
		}
		begin := r.IntN(len(other))
		return slices.Concat(text[:at], []byte(other[begin:min(len(other), begin+r.IntN(200))]), text[at:])
	}
}
