package wasm

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPluginThatLogsTooMuchIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &testLog{}
		l := newPluginLog(log.logger(slog.LevelInfo), "test")
		line := strings.Repeat("x", 1024-lineCost) // costs 1 KiB
		for range 100 {
			l.line(t.Context(), slog.LevelInfo, line)
		}
		if got := strings.Count(log.String(), line); got != logBurst>>10 {
			t.Errorf("%d lines were logged at once, want %d", got, logBurst>>10)
		}
		if strings.Contains(log.String(), "dropped") {
			t.Error("dropped lines are reported before a line gets through")
		}
		time.Sleep(time.Minute)
		for range 100 {
			l.line(t.Context(), slog.LevelInfo, line)
		}
		if got := strings.Count(log.String(), line); got != (logBurst+logPerMinute)>>10 {
			t.Errorf("%d lines were logged after a minute, want %d", got, (logBurst+logPerMinute)>>10)
		}
		if want := `msg="lines of a plugin were dropped: it logs too much" policy=test lines=68`; strings.Count(log.String(), want) != 1 {
			t.Errorf("want once %s", want)
		}
		time.Sleep(24 * time.Hour) // it saves up no more than the burst
		before := strings.Count(log.String(), line)
		for range 100 {
			l.line(t.Context(), slog.LevelInfo, line)
		}
		if got := strings.Count(log.String(), line) - before; got != logBurst>>10 {
			t.Errorf("%d lines were logged after a day, want %d", got, logBurst>>10)
		}
	})
}

func TestLinesNobodyWantsCostNothing(t *testing.T) {
	t.Parallel()
	log := &testLog{}
	l := newPluginLog(log.logger(slog.LevelInfo), "test")
	for range 1000 {
		l.line(t.Context(), slog.LevelDebug, strings.Repeat("x", 1000))
	}
	l.line(t.Context(), slog.LevelInfo, "y")
	if got := log.String(); got != "level=INFO msg=\"a plugin logs\" policy=test text=y\n" {
		t.Errorf("log %s", got)
	}
}

func TestLinesArePutTogether(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine)
	for name, test := range map[string]struct{ writes, want []string }{
		"whole lines":              {[]string{"a\nb\n"}, []string{"a", "b"}},
		"a line in pieces":         {[]string{"a", "b", "", "c\nd"}, []string{"abc", "d"}},
		"empty lines are no lines": {[]string{"\n\na\n\n"}, []string{"a"}},
		"a long line is cut":       {[]string{long + "y\nz\n"}, []string{long, "z"}},
		"a long line in pieces":    {[]string{long, "y", "y\nz"}, []string{long, "z"}},
	} {
		var l lines
		var got []string
		emit := func(line string) { got = append(got, line) }
		for _, data := range test.writes {
			l.write([]byte(data), emit)
		}
		l.flush(emit)
		if strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%s: %.50q", name, got)
		}
	}
}
