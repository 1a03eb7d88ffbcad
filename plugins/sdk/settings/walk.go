package settings

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

// Walk goes through the table of settings and calls each with every setting of
// it, sorted by name. It reads what Decode reads, tables and lists in each
// other, but a plugin that says by hand what goes where is smaller by 0.1 MB:
//
//	err := settings.Walk(func(s *settings.Setting) {
//		switch s.Name {
//		case "allow":
//			allow = s.Strings()
//		default:
//			s.Unknown("allow")
//		}
//	})
//
// The error names every setting that does not fit.
func Walk(each func(s *Setting)) error {
	table, err := guest.Settings()
	if err != nil || table == "" {
		return err
	}
	w := walker{parser: parser{text: table}}
	(&Setting{walker: &w, value: w.next()}).walk(each)
	return w.err(w.torn)
}

// incomparable keeps the code that would compare structs out of plugins.
type incomparable [0]func()

type walker struct {
	_ incomparable
	parser
	faults
}

// Setting is a setting, or an element of one. It is read with one of the methods
// that say what it must be, once, before the function it was handed to returns;
// what is not read is left out.
type Setting struct {
	_ incomparable
	// Name is the setting's in its table; empty for an element of a list.
	Name string
	// in is the table or list it is in, nil for the whole table; index counts
	// those before it.
	in     *Setting
	index  int
	walker *walker
	value  value
	read   bool
}

// path leads to the setting from the whole table.
func (s *Setting) path() string {
	switch {
	case s.in == nil:
		return ""
	case s.in.value.kind == array:
		return s.in.path() + "[" + guest.Itoa(s.index) + "]"
	}
	return join(s.in.path(), s.Name)
}

// is reports whether the setting is of a kind, and notes if it is not.
func (s *Setting) is(k kind, wanted string) bool {
	fits := s.value.kind == k && !s.value.float
	if !fits {
		s.mismatch(wanted)
	}
	return fits
}

// mismatch stays a call: it is needed in many places, and seldom.
//
//go:noinline
func (s *Setting) mismatch(wanted string) {
	s.Refuse("must be " + wanted + ", but it is " + s.value.name())
}

// Refuse notes what is wrong with the setting, in words that follow its path:
// "must be one or more".
//
//go:noinline
func (s *Setting) Refuse(why string) { s.walker.add("setting " + s.path() + " " + why) }

// Unknown adds the fault that the plugin has no such setting. It suggests the
// known one with the most similar name, if that is near.
func (s *Setting) Unknown(known ...string) { s.walker.unknown(s.in.path(), s.Name, known) }

// String is the content of a string.
func (s *Setting) String() string {
	if !s.is(str, "a string") {
		return ""
	}
	return s.value.text
}

// Bool is the content of a bool.
func (s *Setting) Bool() bool { return s.is(boolean, "a bool") && s.value.text == "true" }

// Int is the content of an integer.
func (s *Setting) Int() int64 {
	if !s.is(number, "an integer") {
		return 0
	}
	magnitude, negative, _ := parseInt(s.value.text) // the agent has no others than of 64 bits
	if negative {
		magnitude = -magnitude
	}
	return int64(magnitude)
}

// Strings is the content of a list of strings.
func (s *Setting) Strings() (all []string) {
	s.List(func(element *Setting) { all = append(all, element.String()) })
	return all
}

// List calls each with every element of a list, in their order.
func (s *Setting) List(each func(element *Setting)) {
	if s.is(array, "a list") {
		s.walk(each)
	}
}

// Table calls each with every setting of a table, sorted by name.
func (s *Setting) Table(each func(s *Setting)) {
	if s.is(object, "a table") {
		s.walk(each)
	}
}

// walk hands on what lies in a list or table, and goes on behind it.
func (s *Setting) walk(each func(*Setting)) {
	s.read = true
	w := s.walker
	for n := 0; ; n++ {
		below := &Setting{in: s, index: n, walker: w}
		var more bool
		if s.value.kind == array {
			more = w.element(n == 0)
		} else {
			below.Name, more = w.member(n == 0)
		}
		if !more {
			return
		}
		below.value = w.next()
		each(below)
		if !below.read {
			w.skip(below.value)
		}
	}
}
