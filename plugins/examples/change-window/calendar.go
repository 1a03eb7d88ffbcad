package main

import "github.com/wardlet/wardlet/plugins/sdk"

// Lengths of time in milliseconds, the unit of the agent's time.
const (
	minute int64 = 60_000
	hour         = 60 * minute
	day          = 24 * hour
	week         = 7 * day
)

// monday is 00:00 UTC on the last Monday before 1970, which began on a Thursday.
const monday = -3 * day

var dayNames = [...]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// modulo returns the remainder of a division that rounds down, from 0 to b-1.
func modulo(a, b int64) int64 { return (a%b + b) % b }

// inWeek returns the time since the beginning of the week. A week begins on Monday at 00:00
// UTC.
func inWeek(time int64) int64 { return modulo(time-monday, week) }

// The days of four years, of a century and of four centuries. These periods begin in March,
// so that a leap day is the last day of a period. So the last of four centuries has one day
// more than the others.
const (
	fourYears     = 4*365 + 1
	century       = 25*fourYears - 1
	fourCenturies = 4*century + 1
	// march is the number of days from 1 March of the year 0 to 1 January 1970.
	march = 719_468
)

// date returns the date of a day. days is the number of days since 1 January 1970.
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
	// From March to July, and from August to December, the five months have 153 days.
	month = (5*rest + 2) / 153
	dayOfMonth = rest - (153*month+2)/5 + 1
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	return year, month, dayOfMonth
}

// writeTime writes a time as shown by a clock that is ahead of UTC by offset: "mon
// 2026-01-05 22:00 +02:00".
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

// writeTwo writes a number with at least two digits.
func writeTwo(t *sdk.Text, separator string, n int64) {
	t.Add(separator)
	if n < 10 {
		t.Add("0")
	}
	t.AddInt(n)
}
