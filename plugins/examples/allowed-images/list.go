package main

import "github.com/wardlet/wardlet/plugins/sdk"

// list is a text of items with separators. It contains the first items up to its limit, and
// counts the others.
type list struct {
	limit     int
	separator string
	text      sdk.Text
	// items is the number of items in the text. more is the number of items that are left
	// out.
	items, more int
}

// begin starts an item and returns the separator before it, or false if there is no room.
func (l *list) begin() (separator string, ok bool) {
	if l.items == l.limit {
		l.more++
		return "", false
	}
	if l.items++; l.items > 1 {
		separator = l.separator
	}
	return separator, true
}

// add adds an item: the owner of the image (what and name), the image and the finding. The
// agent escapes characters that are not printable.
func (l *list) add(what, name, reference, finding string) {
	if separator, ok := l.begin(); ok {
		l.text.Add(separator, what, ` "`, cut(name), `": image "`, cut(reference), finding)
	}
}

// cut shortens a text of the pod.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return shortened(text)
}

func shortened(text string) string { return sdk.Concat(text[:maxShown], "…") }

// end adds how many items were left out.
func (l *list) end() {
	if l.more > 0 {
		l.text.Add(l.separator, "and ")
		l.text.AddInt(int64(l.more))
		l.text.Add(" more")
	}
}
