package main

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk"
)

// span bounds the tested times. It is longer than the years 0 to 9999 of the agent's times.
const span = 300_000 * 365 * day

// checkCalendar compares the results for a time with those of package time.
func checkCalendar(t *testing.T, at, ahead int64) {
	t.Helper()
	local := time.UnixMilli(at).In(time.FixedZone("", int(ahead/1000)))
	sinceMonday := int64(local.Weekday()+6) % 7 * day
	if got, want := inWeek(at+ahead), sinceMonday+modulo(at+ahead, day); got != want {
		t.Errorf("%s is %d ms into its week, want %d", local, got, want)
	}
	year, month, dayOfMonth := date((at + ahead - modulo(at+ahead, day)) / day)
	if y, m, d := local.Date(); year != int64(y) || month != int64(m) || dayOfMonth != int64(d) {
		t.Errorf("%s is %d-%d-%d", local, year, month, dayOfMonth)
	}
	if local.Year() < 1000 || local.Year() > 9999 {
		return
	}
	var text sdk.Text
	writeTime(&text, at, ahead)
	got, err := time.Parse("2006-01-02 15:04 -07:00", text.String()[len("mon "):])
	if err != nil || !got.Equal(local.Truncate(time.Minute)) {
		t.Errorf("%s is written as %s: %v", local, text.String(), err)
	}
	if name := text.String()[:3]; name != dayNames[(local.Weekday()+6)%7] {
		t.Errorf("%s is a %s", local, name)
	}
}

func TestTheCalendarIsGregorian(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "1900-02-28T23:59:59Z", "1900-03-01T00:00:00Z",
		"2100-02-28T12:00:00Z", "2100-03-01T12:00:00Z", "2400-02-29T00:00:00Z", "2024-12-31T23:59:59Z", "1582-10-10T00:00:00Z", "9999-12-31T23:59:59Z",
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, ahead := range []int64{0, 2 * hour, -14 * hour, 5*hour + 45*minute} {
			checkCalendar(t, at.UnixMilli(), ahead)
		}
	}
	// Every day of some centuries.
	for d := int64(-800 * 366); d < 800*366; d++ {
		checkCalendar(t, d*day, 0)
	}
}

// FuzzCalendar compares the calendar with package time.
func FuzzCalendar(f *testing.F) {
	f.Add(int64(0), int16(0))
	f.Add(int64(951_782_400_000), int16(120))
	f.Add(int64(-1), int16(-840))
	f.Fuzz(func(t *testing.T, at int64, minutes int16) {
		checkCalendar(t, at%span, int64(minutes)%(14*60)*minute)
	})
}
