package pluginlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// logged is the output of a logger, without times.
type logged struct{ bytes.Buffer }

func (l *logged) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestAPluginThatLogsTooMuchIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		l := New(log.logger(slog.LevelInfo), "test", nil)
		line := strings.Repeat("x", 1024-lineCost) // costs 1 KiB
		for range 100 {
			l.Line(t.Context(), "", slog.LevelInfo, []byte(line))
		}
		if got := strings.Count(log.String(), line); got != burst>>10 {
			t.Errorf("%d lines were logged at once, want %d", got, burst>>10)
		}
		if strings.Contains(log.String(), "dropped") {
			t.Error("dropped lines are reported before a line gets through")
		}
		time.Sleep(time.Minute)
		for range 100 {
			l.Line(t.Context(), "", slog.LevelInfo, []byte(line))
		}
		if got := strings.Count(log.String(), line); got != (burst+perMinute)>>10 {
			t.Errorf("%d lines were logged after a minute, want %d", got, (burst+perMinute)>>10)
		}
		if want := `msg="lines of a plugin were dropped: it logs too much" policy=test lines=68`; strings.Count(log.String(), want) != 1 {
			t.Errorf("want once %s", want)
		}
		time.Sleep(24 * time.Hour) // the budget never exceeds the burst
		before := strings.Count(log.String(), line)
		for range 100 {
			l.Line(t.Context(), "", slog.LevelInfo, []byte(line))
		}
		if got := strings.Count(log.String(), line) - before; got != burst>>10 {
			t.Errorf("%d lines were logged after a day, want %d", got, burst>>10)
		}
	})
}

// TestPluginLog_controlCharacters checks that escaped bytes count in full towards a plugin's
// budget.
func TestPluginLog_controlCharacters(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"escapes": strings.Repeat("\x1b", MaxLine), "C1": strings.Repeat("\u009b", MaxLine/2), "ends": strings.Repeat("\u2028", MaxLine/3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := &logged{}
				l := New(log.logger(slog.LevelInfo), "test", nil)
				for range 100 {
					l.Line(t.Context(), "", slog.LevelInfo, []byte(line))
				}
				if got, most := len(log.String()), burst+burst/8; got > most || got < burst/2 {
					t.Errorf("%d bytes were logged at once, want at most %d", got, most)
				}
				if strings.ContainsAny(log.String(), "\x1b\u009b\u2028") {
					t.Error("the log has what steers a terminal")
				}
			})
		})
	}
}

// TestPluginLog_escapesThatDoNotFit checks a line that is dropped because of its escapes.
// Until there is room for the longest line, it also causes other lines to be dropped that
// might not fit, and only these.
func TestPluginLog_escapesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, shares := range map[string]*Shares{
		"of the plugin": nil, "of the tenant": {PerSecond: map[string]int{"a": perMinute / 60}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := &logged{}
				l := New(log.logger(slog.LevelInfo), "test", shares)
				logs := func(line string, want bool) {
					t.Helper()
					before := strings.Count(log.String(), "a plugin logs")
					l.Line(t.Context(), "a", slog.LevelInfo, []byte(line))
					if got := strings.Count(log.String(), "a plugin logs") > before; got != want {
						t.Errorf("a line of %d bytes is logged: %t, want %t", len(line), got, want)
					}
				}
				controls := strings.Repeat("\x01", 300)
				for range 100 {
					l.Line(t.Context(), "a", slog.LevelInfo, []byte(controls))
				}
				logs(controls, false)
				logs(strings.Repeat("y", 300), false)
				logs(strings.Repeat("y", 50), true)
				time.Sleep(time.Minute)
				logs(strings.Repeat("y", MaxLine), true)
				time.Sleep(time.Minute)
				logs(controls, true)
			})
		})
	}
}

// TestPluginLog_droppedLineIsNotEscaped is not parallel: it counts what the process
// allocates.
func TestPluginLog_droppedLineIsNotEscaped(t *testing.T) {
	for name, test := range map[string]struct {
		line   string
		shares *Shares
	}{
		"controls":                     {strings.Repeat("\x01", 600), nil},
		"C1 controls":                  {strings.Repeat("\u0085", 340), nil},
		"ends of line":                 {strings.Repeat("\u2028", 200), nil},
		"letters beyond a share":       {strings.Repeat("x", 3000), &Shares{PerSecond: map[string]int{"a": 1}}},
		"controls beyond a share":      {strings.Repeat("\x01", 680), &Shares{PerSecond: map[string]int{"a": 1}}},
		"controls within half a share": {strings.Repeat("\x01", 300), &Shares{PerSecond: map[string]int{"a": 1}}},
	} {
		l := New((&logged{}).logger(slog.LevelInfo), "test", test.shares)
		text := []byte(test.line)
		logs := func() { l.Line(t.Context(), "a", slog.LevelInfo, text) }
		for range 30 { // uses up the budget
			logs()
		}
		if got := testing.AllocsPerRun(100, logs); got > 0 {
			t.Errorf("%s: a line that is dropped allocates %.0f times", name, got)
		}
	}
}

func TestLinesNobodyWantsCostNothing(t *testing.T) {
	t.Parallel()
	log := &logged{}
	l := New(log.logger(slog.LevelInfo), "test", nil)
	for range 1000 {
		l.Line(t.Context(), "", slog.LevelDebug, []byte(strings.Repeat("x", 1000)))
	}
	l.Line(t.Context(), "", slog.LevelInfo, []byte("y"))
	if got := log.String(); got != "level=INFO msg=\"a plugin logs\" policy=test text=y\n" {
		t.Errorf("log %s", got)
	}
}

func TestLinesArePutTogether(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxLine)
	for name, test := range map[string]struct{ writes, want []string }{
		"whole lines":              {[]string{"a\nb\n"}, []string{"a", "b"}},
		"a line in pieces":         {[]string{"a", "b", "", "c\nd"}, []string{"abc", "d"}},
		"empty lines are no lines": {[]string{"\n\na\n\n"}, []string{"a"}},
		"a long line is cut":       {[]string{long + "y\nz\n"}, []string{long, "z"}},
		"a long line in pieces":    {[]string{long, "y", "y\nz"}, []string{long, "z"}},
	} {
		var l Lines
		var got []string
		emit := func(line []byte) { got = append(got, string(line)) }
		for _, data := range test.writes {
			l.Write([]byte(data), emit)
		}
		l.Flush(emit)
		if strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%s: %.50q", name, got)
		}
	}
}

func TestATenantsLinesAreDroppedForItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		shares := &Shares{PerSecond: map[string]int{"a": 2048, "b": 2048}}
		text := func(tenant string) string { return tenant + strings.Repeat("x", 1024-lineCost-len(tenant)) } // costs 1 KiB
		count := func(tenant string) int { return strings.Count(log.String(), "text="+text(tenant)) }
		wants := func(step string, a, b, operator int) {
			t.Helper()
			if count("a") != a || count("b") != b || count("-") != operator {
				t.Errorf("%s: %d, %d and %d lines; want %d, %d and %d", step, count("a"), count("b"), count("-"), a, b, operator)
			}
		}
		one, two := New(log.logger(slog.LevelInfo), "one", shares), New(log.logger(slog.LevelInfo), "two", shares)
		for range 100 {
			one.Line(t.Context(), "a", slog.LevelInfo, []byte(text("a")))
		}
		wants("one tenant spends its share", 20, 0, 0)
		two.Line(t.Context(), "a", slog.LevelInfo, []byte(text("a")))
		one.Line(t.Context(), "b", slog.LevelInfo, []byte(text("b")))
		wants("by whichever plugin, and nobody else's", 20, 1, 0)
		for range 100 {
			one.Line(t.Context(), "", slog.LevelInfo, []byte(text("-")))
		}
		wants("the operator is bounded by plugin", 20, 1, burst>>10)
		time.Sleep(2 * time.Second)
		for range 100 {
			two.Line(t.Context(), "a", slog.LevelInfo, []byte(text("a")))
		}
		wants("two seconds later", 24, 1, burst>>10)
		one.Line(t.Context(), "b", slog.LevelInfo, []byte(text("b")))
		one.Line(t.Context(), "a", slog.LevelInfo, nil)
		time.Sleep(time.Second)
		one.Line(t.Context(), "a", slog.LevelInfo, []byte("y"))
		if want := `msg="lines of a plugin were dropped: it logs too much" policy=one tenant=a lines=81`; strings.Count(log.String(), want) != 1 {
			t.Errorf("want once %s", want)
		}
	})
}

func TestATenantWithASmallShareMayLogALongLine(t *testing.T) {
	t.Parallel()
	s := &Shares{PerSecond: map[string]int{"a": 64}}
	now := time.Now()
	if !s.take("a", MaxLine+lineCost, now) || s.take("a", 1, now) || !s.take("a", 64, now.Add(time.Second)) {
		t.Error("it may not, or more than that")
	}
	if s.take("a", 64, now.Add(-time.Hour)) {
		t.Error("a clock that goes back brings something")
	}
}

func TestSpecification_boundsOfTheLog(t *testing.T) {
	t.Parallel()
	abitest.Says(t, "../../../..",
		fmt.Sprintf("| a log line | %d KiB | cut |", MaxLine>>10),
		fmt.Sprintf("| log lines of one plugin | %d KiB at once, then %d KiB a minute; each line counts %d bytes more", burst>>10, perMinute>>10, lineCost),
		fmt.Sprintf("a line must fit in at %d times its length, until %d KiB and %d bytes are free", mostEscapes, MaxLine>>10, lineCost),
	)
}
