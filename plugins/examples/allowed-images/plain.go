package main

import "github.com/wardlet/wardlet/plugins/sdk/str"

// Most references are plain: a registry with a dot, a path, all in lower case,
// then perhaps a tag. Those are read eight characters at a time; parseImage
// returns the same result for them, in ten times the time.

// parsePlain reads a plain reference; it is false for all others, and leaves i
// as it is.
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

// plainName is what stands before the tag of a reference, whose tag is in order;
// empty if the reference cannot be plain.
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

// plainly is the pattern that lets a plain reference pass, nil if that takes
// more than a look at how it begins.
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

// Eight characters at a time: one of them in each byte of a word.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// from has the high bit of each byte that is c at least. All bytes must be
// below 0x80.
func from(word uint64, c byte) uint64 { return word + ones*uint64(0x80-c) }

// plain reports whether s is made of lower case letters and digits, and single
// dots, dashes and slashes between them. It is false for s shorter than eight.
func plain(s string) bool {
	if len(s) < 8 {
		return false
	}
	// The last word overlaps the one before it, if need be.
	var bad uint64
	before := uint64(0x80) // the high bit: a separator stands before the word
	for at := 0; ; {
		b := s[at : at+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		bad |= word & highs
		word &^= highs
		// From '-' on come '.', '/', the digits, and then ':'.
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
