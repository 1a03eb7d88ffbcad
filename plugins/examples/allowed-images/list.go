package main

import "github.com/wardlet/wardlet/plugins/sdk"

// list is a text of items with a separator between them. It holds the first
// few up to its limit and counts the others.
type list struct {
	limit     int
	separator string
	text      sdk.Text
	// items and more count what is in the text, and what is not.
	items, more int
}

// begin starts an item and returns what stands before it. It is false if there is
// no room.
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

// add adds whose image it is, the image, and what is to be said of it. What is
// not printable the agent escapes.
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

// end says how many items were left out.
func (l *list) end() {
	if l.more > 0 {
		l.text.Add(l.separator, "and ")
		l.text.AddInt(int64(l.more))
		l.text.Add(" more")
	}
}
