package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/glob"
)

const (
	alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	maxLabel     = 63
	maxPrefix    = 253
)

// values are the values a label may have: globs with | between them.
type values struct {
	text  string
	globs []string
}

func parseValues(text string) (values, error) {
	v := values{text: text}
	for part := range strings.SplitSeq(text, "|") {
		if part == "" || strings.Trim(part, alphanumeric+"-_.*") != "" || len(strings.ReplaceAll(part, "*", "")) > maxLabel {
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

// wanted says which values would do, for the end of a message.
func (v *values) wanted() string {
	if v.text == "" {
		return ""
	}
	return ", it must be " + quoted(v.text)
}

// isKey reports whether a label can have this key: a name, perhaps with a DNS
// name and a slash before it.
func isKey(key string) bool {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "x", key
	}
	if len(prefix) > maxPrefix || strings.ToLower(prefix) != prefix {
		return false
	}
	for part := range strings.SplitSeq(prefix, ".") {
		if !isWord(part, "-") {
			return false
		}
	}
	return isWord(name, "-_.")
}

// isWord wants at most 63 characters, and letters or digits at both ends.
func isWord(s, inside string) bool {
	if s == "" || len(s) > maxLabel || strings.Trim(s, alphanumeric+inside) != "" {
		return false
	}
	return strings.Contains(alphanumeric, s[:1]) && strings.Contains(alphanumeric, s[len(s)-1:])
}
