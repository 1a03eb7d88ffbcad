package settings

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

// Walk calls each with every setting of the table of settings, sorted by name. Like Decode,
// it supports nested tables and lists. A plugin with Walk has more code to write, but is
// smaller by 0.1 MB:
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

// incomparable makes a struct incomparable, so that plugins have no code to compare such
// structs.
type incomparable [0]func()

type walker struct {
	_ incomparable
	parser
	faults
}

// Setting is a setting, or an element of a list. A function that gets a Setting may call
// one of the methods that read it, once, before the function returns. If it calls none, the
// setting is skipped.
type Setting struct {
	_ incomparable
	// Name is the name of the setting in its table, empty for an element of a list.
	Name string
	// in is the table or list that contains the setting, nil for the whole table. index is
	// the number of elements before it.
	in     *Setting
	index  int
	walker *walker
	value  value
	read   bool
}

// path returns the path of the setting in the whole table.
func (s *Setting) path() string {
	switch {
	case s.in == nil:
		return ""
	case s.in.value.kind == array:
		return s.in.path() + "[" + guest.Itoa(s.index) + "]"
	}
	return join(s.in.path(), s.Name)
}

// is reports whether the setting is of a kind, and adds a fault if it is not.
func (s *Setting) is(k kind, wanted string) bool {
	fits := s.value.kind == k && !s.value.float
	if !fits {
		s.mismatch(wanted)
	}
	return fits
}

// mismatch adds the fault that the setting has the wrong kind. It is not inlined, because
// it is called from many places, and rarely.
//
//go:noinline
func (s *Setting) mismatch(wanted string) {
	s.Refuse("must be " + wanted + ", but it is " + s.value.name())
}

// Refuse adds a fault about the setting. why follows the path of the setting in the error,
// such as "must be one or more".
//
//go:noinline
func (s *Setting) Refuse(why string) { s.walker.add("setting " + s.path() + " " + why) }

// Unknown adds the fault that the plugin has no such setting. If a known setting has a
// similar name, the fault suggests the most similar one.
func (s *Setting) Unknown(known ...string) { s.walker.unknown(s.in.path(), s.Name, known) }

// String returns the content of a string.
func (s *Setting) String() string {
	if !s.is(str, "a string") {
		return ""
	}
	return s.value.text
}

// Bool returns the content of a bool.
func (s *Setting) Bool() bool { return s.is(boolean, "a bool") && s.value.text == "true" }

// Int returns the content of an integer.
func (s *Setting) Int() int64 {
	if !s.is(number, "an integer") {
		return 0
	}
	magnitude, negative, _ := parseInt(s.value.text) // all integers of the agent have 64 bits
	if negative {
		magnitude = -magnitude
	}
	return int64(magnitude)
}

// Strings returns the content of a list of strings.
func (s *Setting) Strings() (all []string) {
	s.List(func(element *Setting) { all = append(all, element.String()) })
	return all
}

// List calls each with every element of a list, in order.
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

// walk calls each for everything in a list or table, and reads to its end.
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
