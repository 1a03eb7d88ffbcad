package main

import (
	"testing"
	"time"
)

// slowly does what next does: it tries every minute of more than a week on the calendar of
// package time.
func slowly(windows []window, at int64) (until int64) {
	for try := at; try <= at+8*day; try += minute - modulo(try, minute) {
		for i := range windows {
			w := &windows[i]
			local := time.UnixMilli(try).In(time.FixedZone("", int(w.offset/1000)))
			today := int(local.Weekday()+6) % 7
			ofDay := modulo(try+w.offset, day)
			on := func(d int) bool { return w.days>>((d+7)%7)&1 != 0 }
			switch {
			case w.to > w.from && on(today) && w.from <= ofDay && ofDay < w.to,
				w.to < w.from && on(today) && w.from <= ofDay,
				w.to < w.from && on(today-1) && ofDay < w.to:
				return try - at
			}
		}
	}
	return -1
}

func checkNext(t *testing.T, windows []window, at int64) {
	t.Helper()
	until, w := next(openings(windows), at)
	if want := slowly(windows, at); until != want {
		t.Errorf("%+v at %s: opens in %d ms, want %d", windows, time.UnixMilli(at).UTC(), until, want)
	}
	if w == nil {
		t.Errorf("%+v: no window opens", windows)
	}
}

func TestWindowsOpenAndCloseToTheMillisecond(t *testing.T) {
	t.Parallel()
	const weekdays, sunday = 1<<5 - 1, 1 << 6
	for name, windows := range map[string][]window{
		"in the day":              {{days: weekdays, from: 9 * hour, to: 17 * hour}},
		"over midnight":           {{days: weekdays, from: 22 * hour, to: 6 * hour}},
		"over the week's end":     {{days: sunday, from: 22 * hour, to: 6 * hour}},
		"ahead of UTC":            {{days: 1, from: hour, to: 2 * hour, offset: 14 * hour}},
		"behind UTC":              {{days: sunday, from: 23 * hour, to: 24 * hour, offset: -14 * hour}},
		"a whole day":             {{days: 1 << 2, from: 0, to: day}},
		"always":                  {{days: 1<<7 - 1, from: 0, to: day}},
		"until midnight":          {{days: 1, from: 20 * hour, to: 0}},
		"two, one in the other":   {{days: weekdays, from: 8 * hour, to: 20 * hour}, {days: 1, from: 9 * hour, to: 10 * hour}},
		"two with a gap":          {{days: 1, from: 8 * hour, to: 9 * hour}, {days: 1, from: 9*hour + minute, to: 10 * hour}},
		"two of different clocks": {{days: 1, from: 8 * hour, to: 9 * hour, offset: 2 * hour}, {days: 2, from: 8 * hour, to: 9 * hour, offset: -9 * hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC).UnixMilli()
			for _, o := range openings(windows) {
				for _, edge := range []int64{o.at, o.at + o.length} {
					for _, off := range []int64{-minute, -1, 0, 1, minute} {
						checkNext(t, windows, base+edge+off)
						checkNext(t, windows, base+edge+off-520*week)
					}
				}
			}
		})
	}
}

// FuzzWindows compares next with the calendar of package time.
func FuzzWindows(f *testing.F) {
	f.Add(uint8(3), uint16(22*60), uint16(6*60), int16(120), uint8(64), uint16(0), uint16(1440), int16(-60), int64(1_767_571_200_000))
	f.Add(uint8(1), uint16(0), uint16(1), int16(0), uint8(1), uint16(1), uint16(0), int16(840), int64(-1))
	f.Fuzz(func(t *testing.T, days uint8, from, to uint16, ahead int16, otherDays uint8, otherFrom, otherTo uint16, otherAhead int16, at int64) {
		read := func(days uint8, from, to uint16, ahead int16) window {
			return window{max(days%(1<<7), 1), int64(from) % 1440 * minute, int64(to) % 1441 * minute, int64(ahead) % (14 * 60) * minute}
		}
		windows := []window{read(days, from, to, ahead), read(otherDays, otherFrom, otherTo, otherAhead)}
		for i := range windows {
			if windows[i].from == windows[i].to {
				return
			}
		}
		checkNext(t, windows, at%span)
	})
}
