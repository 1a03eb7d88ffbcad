package wasm

// jsonSpace is what may stand between the values of a JSON text.
const jsonSpace = " \t\r\n"

// jsonScanner reads JSON text that is known to be valid, each byte once: it decodes
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

// open reads the bracket that begins a list or object, which ends with end, and
// reports whether there is anything in it.
func (s *jsonScanner) open(end byte) bool {
	s.peek()
	s.at++
	if s.peek() == end {
		s.at++
		return false
	}
	return true
}

// more reads the comma or end after an element, and reports whether another follows.
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
