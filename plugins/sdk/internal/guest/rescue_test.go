package guest

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

func hook(do func()) (answer int32) {
	answer = -1
	defer func() {
		if answer == -1 {
			Rescue(recover())
		}
	}()
	do()
	return 3
}

func TestAPanicIsAnAnswerWithALine(t *testing.T) {
	var none []int
	for what, test := range map[string]struct {
		do   func()
		want string
	}{
		"an error":             {func() { panic(errors.New("broken")) }, "panic: broken"},
		"a string":             {func() { panic("oh") }, "panic: oh"},
		"something else":       {func() { panic(7) }, "panic: a value that is neither an error nor a string"},
		"an index":             {func() { none[len(five())]++ }, "panic: runtime error: index out of range"},
		"a nil pointer":        {func() { nobody().said = "" }, "nil pointer dereference"},
		"a division by zero":   {func() { none = make([]int, 1/len(none)) }, "divide by zero"},
		"deep in a call chain": {func() { deep(20) }, "panic: deep"},
	} {
		t.Run(what, func(t *testing.T) {
			a := fresh(t)
			if got := hook(test.do); got != -1 {
				t.Errorf("answer %d", got)
			}
			if !strings.Contains(a.said, test.want) || !regexp.MustCompile(` \(rescue_test\.go:\d+\)$`).MatchString(a.said) {
				t.Errorf("said %q, want %q and a line", a.said, test.want)
			}
		})
	}
}

func nobody() *agent { return nil }

func five() string { return "12345" }

func deep(n int) {
	if n == 0 {
		panic("deep")
	}
	deep(n - 1)
}

func TestWithoutAPanicTheAnswerStays(t *testing.T) {
	a := fresh(t)
	if got := hook(func() {}); got != 3 || a.said != "" {
		t.Errorf("answer %d, said %q", got, a.said)
	}
}

func TestIntegersAreWritten(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 10: "10", 1205: "1205", -1: "-1", 1<<63 - 1: "9223372036854775807", -1 << 63: "-9223372036854775808",
	} {
		var buf [MaxDigits]byte
		if got := string(Digits(&buf, n)); got != want {
			t.Errorf("%d: %q", n, got)
		}
		if got := Itoa(int(n)); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
