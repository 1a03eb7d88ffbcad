package main

// window is open on some days of the week, from a time of the day to another.
type window struct {
	// days has a bit for each, Monday's the lowest.
	days uint8
	// from and to are in milliseconds of the day. Where to comes first the
	// window is open over midnight, and belongs to the day it opens on.
	from, to int64
	// offset is how much the window's clock is ahead of UTC.
	offset int64
}

// length is how long the window is open each time, at most a day.
func (w *window) length() int64 {
	if w.to > w.from {
		return w.to - w.from
	}
	return w.to - w.from + day
}

// opening is a time of the week at which a window opens, for how long.
type opening struct {
	window *window
	// at is in milliseconds since Monday at 00:00 UTC.
	at, length int64
}

// openings are those of all windows in a week.
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

// next is the time until the next window opens, in milliseconds, and that
// window; 0 and the open one, if one is.
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
