package main

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

// maxWindows is the largest number of windows. It limits the time to find the next window.
const maxWindows = 50

// words are the kinds of change, with the names of package request.
var words = [...]string{"labels", "annotations", "images", "resources", "containers", "tolerations", "deadline", "grace", "spec"}

// newPolicy reads the settings.
func newPolicy() (*policy, error) {
	p := &policy{}
	var windows []window
	err := settings.Walk(func(s *settings.Setting) {
		switch s.Name {
		case "windows":
			s.List(func(s *settings.Setting) { windows = append(windows, newWindow(s)) })
		case "allow_changes":
			p.allowed = s.Strings()
			for _, word := range p.allowed {
				if place(words[:], word) < 0 {
					s.Refuse(`has "` + word + `": want labels, annotations, images, resources, containers, tolerations, deadline, grace or spec`)
				}
			}
		case "urgent_labels":
			p.urgentLabels = entries(s)
		case "urgent_annotations":
			p.urgentAnnotations = entries(s)
		case "unsynchronized":
			does := s.String()
			if does != "pass" && does != "defer" {
				s.Refuse(`must be "pass" or "defer", not "` + does + `"`)
			}
			p.passUnsynchronized = does == "pass"
		default:
			s.Unknown("windows", "allow_changes", "urgent_labels", "urgent_annotations", "unsynchronized")
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(windows) == 0:
		return nil, errors.New(`settings.windows must list at least one window, such as { days = ["sat"], from = "22:00", to = "06:00" }`)
	case len(windows) > maxWindows:
		return nil, errors.New("settings.windows lists more than 50 windows: join some")
	}
	p.openings = openings(windows)
	return p, nil
}

// entries reads a table of keys and globs of values.
func entries(s *settings.Setting) (all []entry) {
	s.Table(func(s *settings.Setting) { all = append(all, entry{s.Name, s.String()}) })
	return all
}

// newWindow reads one window.
func newWindow(table *settings.Setting) window {
	const none = -1
	w := window{days: 1<<len(dayNames) - 1, from: none, to: none}
	table.Table(func(s *settings.Setting) {
		ok, such := true, `a time such as "22:00"`
		switch s.Name {
		case "days":
			w.days = days(s)
		case "from":
			w.from, ok = clock(s.String())
			ok = ok && w.from < day
		case "to":
			w.to, ok = clock(s.String())
		case "utc_offset":
			w.offset, ok = offset(s.String())
			such = `an offset such as "+02:00"`
		default:
			s.Unknown("days", "from", "to", "utc_offset")
		}
		if !ok {
			s.Refuse("must be " + such)
		}
	})
	switch {
	case w.from == none || w.to == none:
		table.Refuse(`needs from and to, such as from = "22:00", to = "06:00"`)
	case w.from == w.to:
		table.Refuse(`opens when it closes: for a whole day write from = "00:00", to = "24:00"`)
	}
	return w
}

// days reads a list of days.
func days(s *settings.Setting) (all uint8) {
	for _, name := range s.Strings() {
		d := place(dayNames[:], name)
		if d < 0 {
			s.Refuse(`has "` + name + `": want mon, tue, wed, thu, fri, sat or sun`)
			continue
		}
		all |= 1 << d
	}
	if all == 0 {
		s.Refuse("must list at least one day; without it the window is open every day")
	}
	return all
}

// place returns the index of a word in a list, -1 if the list does not have it.
func place(list []string, word string) int {
	for i := range list {
		if list[i] == word {
			return i
		}
	}
	return -1
}

// clock parses a time of the day, from 00:00 to 24:00, into milliseconds.
func clock(text string) (time int64, ok bool) {
	const form = "00:00"
	if len(text) != len(form) || text[2] != ':' {
		return 0, false
	}
	for i := range len(text) {
		if i != 2 && (text[i] < '0' || text[i] > '9') {
			return 0, false
		}
	}
	hours, minutes := int64(text[0]-'0')*10+int64(text[1]-'0'), int64(text[3]-'0')*10+int64(text[4]-'0')
	time = hours*hour + minutes*minute
	return time, minutes < 60 && time <= day
}

// offset parses how much a clock is ahead of UTC, from -14:00 to +14:00, into milliseconds.
func offset(text string) (ahead int64, ok bool) {
	if text == "" || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	ahead, ok = clock(text[1:])
	if text[0] == '-' {
		ahead = -ahead
	}
	return ahead, ok && -14*hour <= ahead && ahead <= 14*hour
}
