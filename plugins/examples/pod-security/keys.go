package main

// keys goes through the keys of a JSON object, without those of the objects in
// it. The agent wrote the text, so that it need not be checked.
type keys struct {
	text  []byte
	depth int
}

// next is the next key; empty after the last one.
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

// string takes the rest of a string, whose escapes stay.
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

// colon reports whether a colon follows, which makes a string a key.
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
