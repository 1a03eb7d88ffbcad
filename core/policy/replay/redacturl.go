package replay

import (
	"strconv"
	"strings"
)

// document redacts the ID of a document in the same way as url: the document may have been
// read from a URL. The index in the ID stays.
func (x *Redactor) document(id string) string {
	i := strings.LastIndexByte(id, '#')
	if i < 0 {
		return x.url(id)
	}
	if _, err := strconv.Atoi(id[i+1:]); err != nil {
		return x.url(id)
	}
	return x.url(id[:i]) + id[i:]
}

// url redacts a URL, or the path of one: the user with the password, the query and the
// fragment. The URL need not be valid.
func (x *Redactor) url(v string) string {
	scheme, rest, found := strings.Cut(v, "://")
	found = found && !strings.ContainsAny(scheme, "/?#")
	if found {
		scheme += "://"
	} else {
		scheme, rest = "", v
	}
	host := strings.IndexAny(rest+"/", "/?#")
	user := strings.LastIndexByte(rest, '@')
	switch {
	case user > host && (found || host > 0):
		// It may be a password with such a character in it.
		return scheme + x.value(rest)
	case user >= 0 && user < host:
		scheme, rest = scheme+x.value(rest[:user])+"@", rest[user+1:]
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i+1] + x.value(rest[i+1:])
	}
	return scheme + rest
}
