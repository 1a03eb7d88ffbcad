package main

// window is open on some days of the week, from one time of the day to another.
type window struct {
	// days has a bit for each day of the week; the bit of Monday is the lowest.
	days uint8
	// from and to are times of the day in milliseconds. If to is less than from, the window
	// stays open past midnight, and belongs to the day on which it opens.
	from, to int64
	// offset is how much the clock of from and to is ahead of UTC.
	offset int64
}

// length is how long the window is open each time, at most a day.
func (w *window) length() int64 {
	if w.to > w.from {
		return w.to - w.from
	}
	return w.to - w.from + day
}

// opening is a time of the week at which a window opens, and how long it stays open.
type opening struct {
	window *window
	// at is the time in milliseconds since Monday at 00:00 UTC.
	at, length int64
}

// openings returns the openings of all windows in a week.
func openings(windows []window) (all []opening) {
	for i := range windows {
		w := &windows[i]
		for d := range dayNames {
			if w.days>>d&1 != 0 {
				all = append(all, opening{w, modulo(int64(d)*day+w.from-w.offset, week), w.length()})
			}
		}
	}
	return all
}

// next returns the time until the next window opens, in milliseconds, and that window. If a
// window is open, it returns 0 and the open window.
func next(all []opening, time int64) (until int64, w *window) {
	passed := inWeek(time)
	until = week + 1
	for i := range all {
		o := &all[i]
		since := modulo(passed-o.at, week)
		if since < o.length {
			return 0, o.window
		}
		if week-since < until {
			until, w = week-since, o.window
		}
	}
	return until, w
}
