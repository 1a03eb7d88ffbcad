package generate

// source turns bytes into choices.
type source struct {
	bytes []byte
	// left is how many more instructions may be generated. After that, and after the end of the
	// bytes, every choice is the first one, which makes the shortest code.
	left int
}

// choose returns a number below n, which is at least 1.
func (s *source) choose(n int) int {
	v := s.next()
	if n > 256 {
		v = v<<8 | s.next()
	}
	return v % n
}

func (s *source) next() int {
	if len(s.bytes) == 0 || s.left <= 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b)
}

// once returns true one time in n, and never after the end of the bytes.
func (s *source) once(n int) bool { return s.choose(n) == n-1 }
