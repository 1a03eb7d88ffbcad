package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

// newPolicy reads the settings.
func newPolicy() (*policy, error) {
	p := &policy{}
	err := settings.Walk(func(s *settings.Setting) {
		switch s.Name {
		case "order":
			p.usual.read(s)
		case "namespaces":
			s.Table(func(s *settings.Setting) {
				if !isName(s.Name) {
					s.Refuse(`can be of no namespace: want a name such as "shop", with * for any characters`)
				}
				o := order{namespaces: s.Name}
				o.read(s)
				p.insert(o)
			})
		case "sticky":
			p.sticky = s.Bool()
		case "prefer_confirmed":
			p.preferConfirmed = s.Bool()
		default:
			s.Unknown("order", "namespaces", "sticky", "prefer_confirmed")
		}
	})
	if err == nil && len(p.usual.entries) == 0 && len(p.special) == 0 {
		err = errors.New(`settings.order must list at least one source, such as "api" or "file:emergency"`)
	}
	return p, err
}

// read reads an order.
func (o *order) read(s *settings.Setting) {
	for _, text := range s.Strings() {
		e, ok := parseEntry(text)
		if !ok {
			s.Refuse(`has "` + text + `": want a kind of sources, file, http or api, or one with the name of a source, such as "file:emergency"`)
			continue
		}
		if by := o.add(&e); by != nil {
			s.Refuse(`has "` + text + `" after "` + by.text + `", which is for it too: put it before, or leave it out`)
		}
	}
	if len(o.entries) == 0 {
		s.Refuse(`must list at least one source, such as "api" or "file:emergency"`)
	}
}

// insert adds an order for some namespaces at its place in p.special. Orders for a
// namespace without a glob come before orders with one, and longer names before shorter
// names. Names of equal length are sorted alphabetically.
func (p *policy) insert(o order) {
	at := 0
	for at < len(p.special) && !before(o.namespaces, p.special[at].namespaces) {
		at++
	}
	p.special = append(p.special, order{})
	copy(p.special[at+1:], p.special[at:])
	p.special[at] = o
}

func before(a, b string) bool {
	if x, y := strings.IndexByte(a, '*') >= 0, strings.IndexByte(b, '*') >= 0; x != y {
		return y
	}
	return len(a) > len(b)
}
