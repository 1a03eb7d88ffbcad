package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/glob"
)

const (
	maxLabel  = 63
	maxPrefix = 253
)

// values are the values that a label may have: globs with | between them.
type values struct {
	globs []string
	// wanted lists the allowed values, for the end of a message.
	wanted string
}

func parseValues(text string) (values, error) {
	v := values{wanted: ", it must be " + quoted(text)}
	for part := range strings.SplitSeq(text, "|") {
		if part == "" || !only(part, "-_.*") || len(part)-strings.Count(part, "*") > maxLabel {
			return values{}, errors.New(quoted(part) + ` can match no value: want values such as "web", with * for any characters and | between alternatives`)
		}
		v.globs = append(v.globs, part)
	}
	return v, nil
}

func (v *values) match(value string) bool {
	for _, g := range v.globs {
		if glob.Match(g, value) {
			return true
		}
	}
	return len(v.globs) == 0
}

// isKey reports whether a label can have this key: a name, or a DNS name, a slash and a
// name.
func isKey(key string) bool {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "x", key
	}
	if len(prefix) > maxPrefix {
		return false
	}
	for i := range len(prefix) {
		if 'A' <= prefix[i] && prefix[i] <= 'Z' {
			return false
		}
	}
	for part := range strings.SplitSeq(prefix, ".") {
		if !isWord(part, "-") {
			return false
		}
	}
	return isWord(name, "-_.")
}

// isWord reports whether s has at most 63 characters, with letters or digits at both ends.
// inside are further marks that it may contain.
func isWord(s, inside string) bool {
	return s != "" && len(s) <= maxLabel && only(s, inside) && only(s[:1], "") && only(s[len(s)-1:], "")
}

// only reports whether s consists of letters, digits and the given marks.
func only(s, marks string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case strings.IndexByte(marks, c) < 0:
			return false
		}
	}
	return true
}
