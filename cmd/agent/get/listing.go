package get

// entry is one item in the output of `get`.
type entry struct {
	// key identifies the entry; name is the argument that selects it.
	key, name string
	// ref is the name that -o name prints after the kind, in the form that commands accept.
	// If it is empty, name is printed.
	ref   string
	cells []string
	// stable has the cells without ages: a watch prints an entry when stable changes.
	stable []string
	// gone has the cells to print when the entry no longer exists. If it is nil, a watch
	// does not report that the entry is gone.
	gone []string
	// notes are printed below the table.
	notes []note
	// object is the object that json and yaml print.
	object any
}

// note is a line below a table.
type note struct {
	text string
	// stable is the text without ages: a watch prints a note when stable changes.
	stable string
}

// lasting returns a note that contains no age.
func lasting(text string) note { return note{text, text} }

// listing is the result of one request of `get`.
type listing struct {
	entries []entry
	// notes are about all entries together, and come last.
	notes []note
	// empty is printed if there are no entries; "" for the usual words.
	empty string
}
