package main

import (
	"strconv"
	"strings"
)

// list keeps the first texts up to its limit and counts the others.
type list struct {
	limit int
	texts []string
	more  int
}

// add adds a text, given in parts.
func (l *list) add(parts ...string) {
	if len(l.texts) == l.limit {
		l.more++
		return
	}
	l.texts = append(l.texts, strings.Join(parts, ""))
}

// join puts the texts together and says how many are left out.
func (l *list) join(separator string) string {
	all := strings.Join(l.texts, separator)
	if l.more > 0 {
		all += separator + "and " + strconv.Itoa(l.more) + " more"
	}
	return all
}
