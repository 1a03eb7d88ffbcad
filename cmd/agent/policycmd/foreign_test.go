package policycmd

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

// FuzzPrinters puts one text into every field that commands print of files and plugins. A printer
// may print only lines of visible characters, and as many lines as for an ordinary text.
func FuzzPrinters(f *testing.F) {
	for _, s := range clitest.Texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		for name, show := range printers {
			got := printed(show, "x"+s+"x")
			clitest.CheckVisible(t, name, got)
			clitest.CheckRows(t, name, got, printed(show, "x"))
		}
	})
}

// printers print what commands read from files and plugins.
var printers = map[string]func(a *app, s string) error{
	"policy run": func(a *app, s string) error {
		a.printRun(clitest.Filled[*author.PolicyRun](s))
		return nil
	},
	"policy test": func(a *app, s string) error {
		a.printTest(clitest.Filled[*author.TestResult](s), true)
		return nil
	},
	"policy bench": func(a *app, s string) error {
		a.printBench(clitest.Filled[*author.Bench](s), 1)
		return nil
	},
	"policy lint": func(a *app, s string) error {
		a.printLint(clitest.Filled[*lintReport](s))
		return nil
	},
	"policy inspect": func(a *app, s string) error {
		a.printReport(&report{Size: 1, SHA256: s, Contents: clitest.Filled[*author.ModuleContents](s)})
		return nil
	},
	"policy diff": func(a *app, s string) error {
		a.printDiff(clitest.Filled[*diffReport](s))
		return nil
	},
	"policy replay": func(a *app, s string) error {
		for _, outcome := range []string{replay.ReplayDifferent, replay.ReplayLost} {
			x := clitest.Filled[*replay.Replayed](s)
			x.Outcome = outcome
			a.printReplayed(x)
		}
		a.printDamaged([]string{s})
		return nil
	},
	"policy export": func(a *app, s string) error {
		a.printLeftOut(clitest.Filled[*replay.Replayed](s))
		return (&faultList{}).errOf([]string{s})
	},
	"a refused set": func(_ *app, s string) error { return refusal(errors.Join(author.InFile(s, errors.New("x")))) },
	"a signed set":  func(_ *app, s string) error { return reasons("x", author.InFile(s, errors.New("x"))) },
}

func (l *faultList) errOf(ids []string) error {
	l.missing(ids)
	return l.err()
}

// printed returns what a printer prints, followed by the error of its command.
func printed(show func(*app, string) error, s string) string {
	var out bytes.Buffer
	w := printable.Writer{W: &out}
	if err := show(&app{&cli.App{Out: w, ErrOut: w, Now: func() time.Time { return clitest.Noon }}}, s); err != nil {
		cli.PrintError(w, err)
	}
	return out.String()
}
