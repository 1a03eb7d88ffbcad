package wasm

// jsonSpace is the white space that JSON allows between values.
const jsonSpace = " \t\r\n"

// jsonScanner reads JSON text that is known to be valid, each byte once. It decodes
// nothing, so it takes a fraction of the time of a decoder.
type jsonScanner struct {
	text []byte
	at   int
}

// peek skips white space and returns the byte after it.
func (s *jsonScanner) peek() byte {
	for {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
}

// open reads the bracket that begins a list or object, and reports whether the list
// or object has any elements. end is the closing bracket; open reads it, too, if
// there are no elements.
func (s *jsonScanner) open(end byte) bool {
	s.peek()
	s.at++
	if s.peek() == end {
		s.at++
		return false
	}
	return true
}

// more reads the comma or the closing bracket after an element, and reports whether
// another element follows.
func (s *jsonScanner) more(end byte) bool {
	c := s.peek()
	s.at++
	return c != end
}

// value reads a value, or a key, and returns its text.
func (s *jsonScanner) value() []byte {
	s.peek()
	begin := s.at
	for depth := 0; ; {
		switch s.text[s.at] {
		case '"':
			s.skipString()
		case '[', '{':
			depth++
			s.at++
		case ']', '}':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++ // within a list or object
			continue
		default:
			s.skipWord()
		}
		if depth == 0 {
			return s.text[begin:s.at]
		}
	}
}

func (s *jsonScanner) skipString() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

// skipWord skips a number, true, false or null.
func (s *jsonScanner) skipWord() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
		s.at++
	}
}
