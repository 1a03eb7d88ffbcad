package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/config"
)

func TestRunReportsEveryFaultOfTheConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent.toml")
	if err := os.WriteFile(file, []byte("log_lvel = \"info\"\n[runtime]\nendpont = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	golden(t, "run-broken-config", wardlet(t.Context(), "run", "--config", file), file, "FILE")
}

func TestRunWithoutAConfigurationSaysWhatToDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none.toml")
	golden(t, "run-no-config", wardlet(t.Context(), "run", "--config", file), file, "FILE")
}

func TestTheLogFollowsTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format string
		level  string
		want   string
	}{
		"text":                  {config.LogText, "info", "level=INFO msg=hello pod=a\n"},
		"json":                  {config.LogJSON, "info", `"level":"INFO","msg":"hello","pod":"a"}` + "\n"},
		"nothing below a level": {config.LogText, "warn", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default()
			cfg.LogFormat, cfg.LogLevel = test.format, test.level
			var out bytes.Buffer
			logger, _ := newLogger(&out, cfg)
			logger.Info("hello", "pod", "a")
			if got := out.Bytes(); !bytes.HasSuffix(got, []byte(test.want)) || (test.want == "") != (len(got) == 0) {
				t.Errorf("log %q, want it to end in %q", got, test.want)
			}
		})
	}
}

// TestNewLogger_controlCharactersAreEscaped: no text of a tenant reaches the log in a form that
// controls a terminal.
func TestNewLogger_controlCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	for _, format := range []string{config.LogText, config.LogJSON} {
		for _, s := range clitest.Texts {
			var out bytes.Buffer
			logger, _ := newLogger(&out, &config.Config{LogFormat: format})
			logger.Info("document refused", "err", errors.New(s), "document", s)
			clitest.CheckVisible(t, "the log", out.String())
			if strings.Count(out.String(), "\n") != 1 {
				t.Errorf("%s: %q", format, out.String())
			}
			var line map[string]any
			if format == config.LogJSON && (json.Unmarshal(out.Bytes(), &line) != nil || line["document"] != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s)) {
				t.Errorf("%q is logged as %s", s, out.String())
			}
		}
	}
}
