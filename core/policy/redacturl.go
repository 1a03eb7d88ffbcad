package policy

import "strings"

// url takes out of a URL, or a path of one, who asks and what is asked: the user with
// the password, the query and the fragment. It need not be a valid one.
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
