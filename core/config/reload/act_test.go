package reload

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
)

// restartLine returns the log line for a key that needs a restart.
func restartLine(key, force, file, why string) string {
	return `level=WARN msg="the configuration changed in a key that takes effect with a restart of the agent" key=` + key +
		" in_force=" + force + " in_file=" + file + ` why="` + why + `"`
}

const (
	podsHaveIt = "pods that run were made with it"
	sourcesAre = "sources are made once, when the agent starts"
)

func TestChangesOfTheFile(t *testing.T) {
	t.Parallel()
	const (
		debug    = "log_level = \"debug\"\n" + firstSource
		other    = firstSource + "[runtime]\nresolv_conf = \"/one\"\n"
		unknown  = "log_lvel = \"debug\"\n" + firstSource
		wrong    = firstSource + "[sync]\nfrequency = 7\n"
		gone     = ""
		unknownF = `the configuration cannot be used:\nDIR/agent.toml:1: log_lvel: unknown key; did you mean \"log_level\"?`
		wrongF   = `the configuration cannot be used:\nDIR/agent.toml:6: sync.frequency: want a duration such as \"20s\", \"500ms\" or \"1h30m\", found the number 7`
		goneF    = "cannot read the configuration: open DIR/agent.toml: no such file or directory; name another file with --config, or begin with a copy of agent.toml"
	)
	resolver := restartLine("runtime.resolv_conf", "/etc/resolv.conf", "/one", podsHaveIt)
	again := `level=INFO msg="the configuration has again what is in force" key=runtime.resolv_conf in_force=/etc/resolv.conf`
	type step struct {
		text string
		want []string
	}
	for name, steps := range map[string][]step{
		"that mean nothing are not told": {
			{"# comment\n" + firstSource, nil},
			{"log_level = \"info\"\n" + firstSource, nil},
		},
		"take effect": {
			{debug, []string{levelLine("info", "debug")}},
			{debug, nil},
			{firstSource, []string{levelLine("debug", "info")}},
		},
		"are told whatever the level": {
			{"log_level = \"error\"\n" + firstSource, []string{levelLine("info", "error")}},
			{"log_level = \"warn\"\n" + firstSource, nil},
			{debug, []string{levelLine("warn", "debug")}},
		},
		"that are faults change nothing, and are told once": {
			{unknown, []string{faultLine(unknownF)}},
			{unknown, nil},
			{wrong, []string{faultLine(wrongF)}},
			{unknown, []string{faultLine(unknownF)}},
			{firstSource, []string{usableLine}},
			{unknown, []string{faultLine(unknownF)}},
			{debug, []string{usableLine, levelLine("info", "debug")}},
		},
		"are none where the file is gone": {
			{gone, []string{faultLine(goneF)}},
			{firstSource, []string{usableLine}},
			{gone, []string{faultLine(goneF)}},
			{debug, []string{usableLine, levelLine("info", "debug")}},
		},
		"that need a restart are told once": {
			{other, []string{resolver}},
			{"# comment\n" + other, nil},
			{firstSource + "[runtime]\nresolv_conf = \"/two\"\n", []string{restartLine("runtime.resolv_conf", "/etc/resolv.conf", "/two", podsHaveIt)}},
		},
		"that need a restart can be undone": {
			{other, []string{resolver}},
			{firstSource, []string{again}},
			{other, []string{resolver}},
		},
		"that need a restart outlast a file that is refused": {
			{other, []string{resolver}},
			{unknown, []string{faultLine(unknownF)}},
			{other, []string{usableLine}},
			{firstSource, []string{again}},
		},
		"take effect or need a restart, each for itself": {
			{
				"log_level = \"debug\"\nnode_name = \"other\"\n" + other,
				[]string{
					levelLine("info", "debug"),
					restartLine("node_name", `""`, "other", "it is part of the UIDs and names of pods"),
					resolver,
				},
			},
			{debug, []string{
				`level=INFO msg="the configuration has again what is in force" key=node_name in_force=""`,
				again,
			}},
		},
		"of sources need a restart, and tell no secret": {
			{
				firstSource + "[[source]]\nname = \"fleet\"\nkind = \"http\"\nurl = \"https://h/a?key=secret\"\n",
				[]string{restartLine("source[fleet]", "absent", "present", sourcesAre)},
			},
			{
				"[[source]]\nname = \"static\"\nkind = \"http\"\nurl = \"https://h/a?key=secret\"\n",
				[]string{
					restartLine("source[static].kind", "file", "http", sourcesAre),
					restartLine("source[static].path", "/manifests", `""`, sourcesAre),
					restartLine("source[static].missing_path", "error", `""`, sourcesAre),
					restartLine("source[static].url", `""`, "https://h/a?...", sourcesAre),
					restartLine("source[static].timeout", "0s", "10s", sourcesAre),
					`level=INFO msg="the configuration has again what is in force" key=source[fleet] in_force=absent`,
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFollowed(t)
				f.run()
				f.settled()
				f.says()
				for _, s := range steps {
					if s.text == gone {
						f.must(os.Remove(f.path))
					} else {
						f.replace(s.text)
					}
					f.tell()
					f.settled()
					f.says(s.want...)
				}
			})
		})
	}
}

func TestTheLevelIsThatOfTheFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.run()
		for text, want := range map[string]slog.Level{
			"debug": slog.LevelDebug, "warn": slog.LevelWarn, "info": slog.LevelInfo, "error": slog.LevelError,
		} {
			f.replace("log_level = \"" + text + "\"\n" + firstSource)
			f.tell()
			f.settled()
			if got := f.level.Level(); got != want {
				t.Errorf("level %s, want %s", got, want)
			}
		}
	})
}

func TestEventsTellOfTheConfiguration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.run()
		for _, text := range []string{
			"log_level = \"debug\"\n" + firstSource,
			"node_name = \"b\"\n" + firstSource + "[runtime]\nresolv_conf = \"/one\"\n",
			"node_name = \"c\"\n" + firstSource,
			"node_name = \"c\"\n" + firstSource + "# comment\n",
			firstSource,
			"lvel = 1\n" + firstSource,
		} {
			f.replace(text)
			f.tell()
			f.settled()
		}
		want := []string{
			`edge Normal ConfigApplied log_level was "info" and is "debug"`,
			`edge Normal ConfigApplied log_level was "debug" and is "info"`,
			"edge Warning ConfigNeedsRestart DIR/agent.toml changed; these keys need a restart: node_name, runtime.resolv_conf",
			"edge Warning ConfigNeedsRestart DIR/agent.toml changed; these keys need a restart: node_name",
			"edge Normal ConfigInForce DIR/agent.toml is in force; no key needs a restart any more",
			"edge Warning ConfigRefused the configuration cannot be used:\nDIR/agent.toml:1: lvel: unknown key; known here are node_name, ",
		}
		got := f.told()
		if n := len(want) - 1; len(got) > n && strings.HasPrefix(got[n], want[n]) {
			got[n] = want[n]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFollowed(t)
	f.r.refuse(errors.New(strings.Repeat("ä", 2000)))
	if got := f.ring.List()[0].Message; got != strings.Repeat("ä", 1021)+"..." {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// Every key that the configuration lists as changeable must have an applier.
func TestEveryKeyThatCanChangeIsBroughtIntoForce(t *testing.T) {
	t.Parallel()
	var got []string
	for key := range (&Live{}).Appliers() {
		got = append(got, key)
	}
	slices.Sort(got)
	if diff := cmp.Diff(config.LiveKeys(), got); diff != "" {
		t.Errorf("keys (-config +agent):\n%s", diff)
	}
}
