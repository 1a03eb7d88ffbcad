package main

import "github.com/wardlet/wardlet/plugins/sdk"

// Lengths of time in milliseconds, as the agent's time is.
const (
	minute int64 = 60_000
	hour         = 60 * minute
	day          = 24 * hour
	week         = 7 * day
)

// monday is the last one, at 00:00 UTC, before 1970: that began on a Thursday.
const monday = -3 * day

var dayNames = [...]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// modulo is the rest of a division that rounds down, from 0 to b-1.
func modulo(a, b int64) int64 { return (a%b + b) % b }

// inWeek is how much of its week, which begins on Monday at 00:00 UTC, has
// passed at a time.
func inWeek(time int64) int64 { return modulo(time-monday, week) }

// Days of four years, of a century and of four, whose first century has a day
// more than the others; of those that begin in March, so that a leap day is the
// last one.
const (
	fourYears     = 4*365 + 1
	century       = 25*fourYears - 1
	fourCenturies = 4*century + 1
	// march is the number of days from 1 March of the year 0 to 1970.
	march = 719_468
)

// date is the date of a day, by its number since 1 January 1970.
func date(days int64) (year, month, dayOfMonth int64) {
	days += march
	rest := modulo(days, fourCenturies)
	year = (days - rest) / fourCenturies * 400
	centuries := min(rest/century, 3)
	rest -= centuries * century
	fours := rest / fourYears
	rest -= fours * fourYears
	years := min(rest/365, 3)
	rest -= years * 365
	year += 100*centuries + 4*fours + years
	// From March on, five months have 153 days, again and again.
	month = (5*rest + 2) / 153
	dayOfMonth = rest - (153*month+2)/5 + 1
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	return year, month, dayOfMonth
}

// writeTime writes a time as a clock shows it that is ahead of UTC by offset:
// "mon 2026-01-05 22:00 +02:00".
func writeTime(t *sdk.Text, time, offset int64) {
	local := time + offset
	ofDay := modulo(local, day)
	year, month, dayOfMonth := date((local - ofDay) / day)
	t.Add(dayNames[inWeek(local)/day], " ")
	t.AddInt(year)
	writeTwo(t, "-", month)
	writeTwo(t, "-", dayOfMonth)
	writeTwo(t, " ", ofDay/hour)
	writeTwo(t, ":", ofDay%hour/minute)
	t.Add(" ")
	writeOffset(t, offset)
}

func writeOffset(t *sdk.Text, offset int64) {
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	writeTwo(t, sign, offset/hour)
	writeTwo(t, ":", offset%hour/minute)
}

// writeTwo writes a number with two digits at least.
func writeTwo(t *sdk.Text, separator string, n int64) {
	t.Add(separator)
	if n < 10 {
		t.Add("0")
	}
	t.AddInt(n)
}
