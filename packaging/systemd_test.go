package packaging

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Forms of values, as systemd.syntax(7), systemd.time(7) and systemd.exec(5) have
// them.
const (
	formText    = `\S.*`
	formPath    = `/[^ ]*`
	formPaths   = formPath + `( ` + formPath + `)*`
	formCommand = formPath + `( \S+)*`
	formUnits   = `[a-zA-Z0-9@._-]+\.(service|target)( [a-zA-Z0-9@._-]+\.(service|target))*`
	formSpan    = `([0-9]+(ms|s|min|h)?)( [0-9]+(ms|s|min|h))*`
	formSwitch  = `yes|no|true|false|on|off|1|0`
	formMode    = `0?[0-7]{3}`
	formName    = `[a-z0-9_-]+`
	formLimit   = `[0-9]+|infinity`
)

// understood are the settings this unit may have, with the form of their values:
// what systemd 247 knows, of which only what is used needs to stand here.
var understood = map[string]string{
	"Unit.Description": formText, "Unit.Documentation": `https://\S+`, "Unit.After": formUnits, "Unit.RequiresMountsFor": formPaths,
	"Unit.StartLimitIntervalSec": formSpan,

	"Service.Type": `simple|exec|forking|oneshot|notify|idle`, "Service.NotifyAccess": `none|main|exec|all`,
	"Service.ExecStart": formCommand, "Service.ExecReload": formCommand,
	"Service.KillMode": `control-group|mixed|process|none`, "Service.Restart": `no|always|on-(success|failure|abnormal|watchdog|abort)`,
	"Service.RestartSec": formSpan, "Service.TimeoutStartSec": formSpan, "Service.TimeoutStopSec": formSpan, "Service.WatchdogSec": formSpan,

	"Service.ConfigurationDirectory": formName, "Service.StateDirectory": formName, "Service.StateDirectoryMode": formMode,
	"Service.RuntimeDirectory": formName, "Service.RuntimeDirectoryMode": formMode,
	"Service.OOMScoreAdjust": `-?[0-9]{1,3}|-?1000`, "Service.LimitNOFILE": formLimit, "Service.LimitCORE": formLimit, "Service.TasksMax": formLimit,
	"Service.Delegate": formSwitch, "Service.NoNewPrivileges": formSwitch, "Service.LockPersonality": formSwitch, "Service.RestrictRealtime": formSwitch,
	"Service.RestrictAddressFamilies": `~?AF_[A-Z0-9]+( AF_[A-Z0-9]+)*`, "Service.SystemCallArchitectures": `native`, "Service.KeyringMode": `inherit|private|shared`,

	"Install.WantedBy": formUnits,
}

// repeatable are the settings that may stand in a unit more than once here.
var repeatable = []string{"Unit.After", "Unit.RequiresMountsFor"}

// misunderstood says what of a unit systemd does not understand, as far as can be
// told without it.
func misunderstood(text string) []string {
	u, faults := parseUnit(text)
	for _, key := range slices.Sorted(maps.Keys(u)) {
		form, known := understood[key]
		if !known {
			faults = append(faults, key+" is no setting that is known here: see systemd's manual, and add it")
			continue
		}
		if len(u[key]) > 1 && !slices.Contains(repeatable, key) {
			faults = append(faults, key+" is set twice")
		}
		for _, value := range u[key] {
			if !regexp.MustCompile(`^(?:` + form + `)$`).MatchString(value) {
				faults = append(faults, fmt.Sprintf("%s cannot be %q", key, value))
			}
		}
	}
	for _, key := range []string{"Service.ExecStart", "Install.WantedBy"} {
		if u[key] == nil {
			faults = append(faults, key+" is missing")
		}
	}
	return faults
}

// verified is what systemd itself says of a unit, asked false where it is not
// installed.
func verified(t *testing.T, text string) (faults []string, asked bool) {
	t.Helper()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return nil, false
	}
	// The binary need not be installed.
	text = strings.ReplaceAll(text, "/usr/local/bin/wardlet", "/bin/true")
	file := filepath.Join(t.TempDir(), "wardlet.service")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "wardlet.service") {
			faults = append(faults, strings.TrimSpace(line))
		}
	}
	if err != nil && len(out) == 0 {
		t.Errorf("systemd-analyze: %v", err)
	}
	return faults, true
}

// The unit is read by ourselves everywhere, and by systemd where it is installed.
func TestSystemdUnderstandsTheUnit(t *testing.T) {
	t.Parallel()
	text := read(t, "wardlet.service")
	faults, asked := verified(t, text)
	t.Logf("systemd was asked: %v", asked)
	for _, fault := range append(misunderstood(text), faults...) {
		t.Error(fault)
	}
}

func TestAUnitThatSystemdDoesNotUnderstandIsFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"a misspelt setting":                 {"KillMode=", "KilMode="},
		"a setting in another section":       {"WantedBy=multi-user.target", "Restart=always"},
		"a section that there is not":        {"[Service]", "[Servcie]"},
		"a value that there is not":          {"Restart=always", "Restart=allways"},
		"a kill mode that there is not":      {"KillMode=process", "KillMode=main"},
		"a duration in a unit there is not":  {"WatchdogSec=1min", "WatchdogSec=1fortnight"},
		"a command that is no whole path":    {"ExecStart=/usr", "ExecStart=./usr"},
		"a line that is no setting":          {"Delegate=yes", "Delegate yes"},
		"a mode that is none":                {"StateDirectoryMode=0750", "StateDirectoryMode=rwx"},
		"a score beyond those there are":     {"OOMScoreAdjust=-999", "OOMScoreAdjust=-1999"},
		"a switch that is neither on or off": {"LockPersonality=yes", "LockPersonality=maybe"},
		"a directory outside of its root":    {"StateDirectory=wardlet\n", "StateDirectory=/srv/wardlet\n"},
		"no command":                         {"ExecStart=", "#ExecStart="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t, "wardlet.service")
			wrong := strings.Replace(text, change[0], change[1], 1)
			if wrong == text {
				t.Fatalf("the unit has no %q", change[0])
			}
			if len(misunderstood(wrong)) == 0 {
				t.Error("it is not found")
			}
			if faults, asked := verified(t, wrong); asked && len(faults) == 0 {
				t.Error("systemd understands it: our reading is too narrow")
			}
		})
	}
}
