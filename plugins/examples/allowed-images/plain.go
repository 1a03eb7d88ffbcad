package main

import "github.com/wardlet/wardlet/plugins/sdk/str"

// Most references are plain: a registry with a dot and a path, both in lower case, with or
// without a tag. They are parsed eight characters at a time. parseAny returns the same
// result for them, but takes ten times as long.

// parsePlain parses a plain reference into i. For all others it returns false and does not
// change i.
func (i *image) parsePlain(reference string) bool {
	name := plainName(reference)
	slash := str.IndexByte(name, '/')
	if slash < 0 {
		return false
	}
	registry, tag := name[:slash], "latest"
	if len(name) < len(reference) {
		tag = reference[len(name)+1:]
	}
	if str.IndexByte(registry, '.') < 0 || registry[slash-1] == 'o' && str.HasSuffix(registry, defaultRegistry) {
		return false
	}
	i.registry, i.path, i.tag, i.digest = registry, name[slash+1:], tag, ""
	return true
}

// plainName returns the text before the tag of a reference. It is empty if the tag is
// invalid or the reference cannot be plain.
func plainName(reference string) string {
	end := str.IndexByte(reference, ':')
	if end < 0 {
		end = len(reference)
	} else if !isTag(reference[end+1:]) {
		return ""
	}
	if name := reference[:end]; len(name) <= maxPath && plain(name) {
		return name
	}
	return ""
}

// plainly returns the pattern that matches a plain reference, nil if comparing prefixes is
// not enough to find it.
func (p *policy) plainly(reference string) *pattern {
	if p.requireDigest || p.allow[0].prefix == "" {
		return nil
	}
	name := plainName(reference)
	for i := range p.allow {
		switch by := &p.allow[i]; {
		case by.prefix == "":
			return nil
		case str.HasPrefix(name, by.prefix):
			return by
		}
	}
	return nil
}

// A word holds eight characters, one in each byte.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// from returns a word in which the high bit of a byte is set if that byte of word is at
// least c. All bytes must be below 0x80.
func from(word uint64, c byte) uint64 { return word + ones*uint64(0x80-c) }

// plain reports whether s has lower case letters and digits, with single dots, dashes and
// slashes between them. It returns false if s is shorter than eight characters.
func plain(s string) bool {
	if len(s) < 8 {
		return false
	}
	// The last word may overlap the word before it.
	var bad uint64
	before := uint64(0x80) // the high bit: a separator stands before the word
	for at := 0; ; {
		b := s[at : at+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		bad |= word & highs
		word &^= highs
		// The characters after '-' are '.', '/', the digits, and then ':'.
		separators := from(word, '-') &^ from(word, '0')
		words := from(word, '0')&^from(word, '9'+1) | from(word, 'a')&^from(word, 'z'+1)
		bad |= highs &^ (separators | words)
		separators &= highs
		bad |= separators & (separators<<8 | before)
		before = separators >> 56
		switch at += 8; {
		case at == len(s):
			return bad|before == 0
		case at > len(s)-8:
			at, before = len(s)-8, 0
		}
	}
}
