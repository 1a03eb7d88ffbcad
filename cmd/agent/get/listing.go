package get

// entry is one thing `get` shows.
type entry struct {
	// key tells it from others, name is what an argument names it by.
	key, name string
	// ref is what -o name prints behind the kind, as commands take it; empty: name.
	ref   string
	cells []string
	// stable is cells without ages: a watch prints an entry when it changes.
	stable []string
	// gone is cells for when it is there no longer; nil: a watch says nothing
	// of that.
	gone []string
	// notes are printed below the table.
	notes []note
	// object is what json and yaml print.
	object any
}

// note is a line below a table.
type note struct {
	text string
	// stable is text without ages: a watch prints a note when it changes.
	stable string
}

// lasting is a note that holds no age.
func lasting(text string) note { return note{text, text} }

// listing is the answer to one question of `get`.
type listing struct {
	entries []entry
	// notes are about all entries together, and come last.
	notes []note
	// empty is said where there are no entries; "" for the usual words.
	empty string
}
