package main

// keys iterates over the keys of a JSON object, without the keys of nested objects. It does
// not check the text, because the agent wrote it.
type keys struct {
	text  []byte
	depth int
}

// next returns the next key, empty after the last.
func (k *keys) next() string {
	for len(k.text) > 0 {
		c := k.text[0]
		k.text = k.text[1:]
		switch c {
		case '{', '[':
			k.depth++
		case '}', ']':
			k.depth--
		case '"':
			if s := k.string(); k.depth == 1 && k.colon() {
				return string(s)
			}
		}
	}
	return ""
}

// string returns the rest of a string, and does not decode escapes.
func (k *keys) string() []byte {
	for i := 0; i < len(k.text); i++ {
		switch k.text[i] {
		case '\\':
			i++
		case '"':
			s := k.text[:i]
			k.text = k.text[i+1:]
			return s
		}
	}
	k.text = nil
	return nil
}

// colon reports whether a colon follows: the string before a colon is a key.
func (k *keys) colon() bool {
	for i, c := range k.text {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			k.text = k.text[i:]
			return c == ':'
		}
	}
	return false
}
