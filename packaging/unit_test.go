package packaging

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/config"
)

// unit holds the values of a unit's keys, by "Section.Key".
type unit map[string][]string

func readUnit(t *testing.T) unit {
	t.Helper()
	u, faults := parseUnit(read(t, "wardlet.service"))
	for _, fault := range faults {
		t.Error(fault)
	}
	return u
}

// parseUnit reads a unit, and says which of its lines are no part of one.
func parseUnit(text string) (u unit, faults []string) {
	u, section := unit{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, isKey := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case isKey && section != "":
			u[section+"."+key] = append(u[section+"."+key], value)
		default:
			faults = append(faults, fmt.Sprintf("line %q is no part of a unit", line))
		}
	}
	return u, faults
}

func (u unit) words(key string) []string { return strings.Fields(strings.Join(u[key], " ")) }

func (u unit) duration(t *testing.T, key string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(strings.ReplaceAll(strings.Join(u[key], " "), "min", "m"))
	if err != nil {
		t.Errorf("%s: %v", key, err)
	}
	return d
}

func TestTheUnitLeavesPodsAloneAndIsNotGivenUp(t *testing.T) {
	t.Parallel()
	u := readUnit(t)
	for key, want := range map[string]string{
		"Service.Type": "notify", "Service.NotifyAccess": "main", "Service.KillMode": "process", "Service.Restart": "always",
		"Unit.StartLimitIntervalSec": "0", "Service.OOMScoreAdjust": "-999", "Service.Delegate": "yes", "Service.TasksMax": "infinity",
		"Install.WantedBy": "multi-user.target",
	} {
		if got := strings.Join(u[key], " "); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := u.duration(t, "Service.TimeoutStopSec"); got < 20*time.Second {
		t.Errorf("calls to the runtime have 10 s, and the agent has %s", got)
	}
	if got := u.duration(t, "Service.WatchdogSec"); got < 20*time.Second || got > 5*time.Minute {
		t.Errorf("the watchdog waits %s", got)
	}
	// A start that waits for the runtime is extended every 5 s.
	if got := u.duration(t, "Service.TimeoutStartSec"); got < 20*time.Second {
		t.Errorf("a start has %s", got)
	}
}

func TestTheUnitOutlivesItsRuntime(t *testing.T) {
	t.Parallel()
	u := readUnit(t)
	if !slices.Contains(u.words("Unit.After"), "containerd.service") {
		t.Error("it may start before the runtime")
	}
	for _, key := range []string{"Requires", "Requisite", "BindsTo", "PartOf", "Upholds"} {
		if got := u["Unit."+key]; got != nil {
			t.Errorf("%s=%s would end the agent with something else", key, got)
		}
	}
}

// These give a service a mount namespace, in which the runtime does not see what the
// agent mounts; or forbid what the agent does.
func TestTheUnitForbidsNothingThatTheAgentDoes(t *testing.T) {
	t.Parallel()
	u := readUnit(t)
	forbidden := []string{
		"ProtectSystem", "ProtectHome", "PrivateTmp", "PrivateDevices", "PrivateMounts", "PrivateUsers", "PrivateNetwork", "ReadOnlyPaths",
		"ReadWritePaths", "InaccessiblePaths", "BindPaths", "BindReadOnlyPaths", "TemporaryFileSystem", "MountFlags", "RootDirectory",
		"ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups", "ProtectProc", "ProcSubset",
		"ProtectHostname", "ProtectClock", "MemoryDenyWriteExecute", "RestrictSUIDSGID", "RestrictNamespaces", "DynamicUser", "User", "UMask", "LogsDirectory",
		"CacheDirectory", "LoadCredential", "SystemCallFilter", "CapabilityBoundingSet",
	}
	for _, key := range forbidden {
		if got := u["Service."+key]; got != nil {
			t.Errorf("%s=%s", key, got)
		}
	}
	for _, family := range []string{"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"} { // interfaces and their addresses come over netlink
		if !slices.Contains(u.words("Service.RestrictAddressFamilies"), family) {
			t.Errorf("%s is forbidden", family)
		}
	}
}

func TestTheUnitsDirectoriesAreTheConfigurations(t *testing.T) {
	t.Parallel()
	u := readUnit(t)
	paths := config.Default().Paths
	state := filepath.Join("/var/lib", strings.Join(u["Service.StateDirectory"], " "))
	run := filepath.Join("/run", strings.Join(u["Service.RuntimeDirectory"], " "))
	if paths.PodRoot != state || filepath.Dir(paths.StateRoot) != state || filepath.Dir(paths.Socket) != run {
		t.Errorf("the unit makes %s and %s; the agent uses %+v", state, run, paths)
	}
	for _, mount := range []string{paths.PodRoot, paths.LogRoot, filepath.Dir(config.DefaultPath)} {
		if !slices.Contains(u.words("Unit.RequiresMountsFor"), mount) {
			t.Errorf("it may start before %s is mounted", mount)
		}
	}
	for _, key := range []string{"Service.ExecStart", "Service.ExecReload"} {
		if words := u.words(key); len(words) < 2 || !filepath.IsAbs(words[0]) || words[len(words)-1] != config.DefaultPath {
			t.Errorf("%s=%s", key, words)
		}
	}
}

// The unit for kubeadm differs from the agent's own only in what it starts and where its files are.
func TestTheUnitOfAKubeletIsTheAgents(t *testing.T) {
	t.Parallel()
	own := readUnit(t)
	kubelet, faults := parseUnit(read(t, "kubelet.service"))
	for _, fault := range faults {
		t.Error(fault)
	}
	differ := []string{
		"Unit.Description", "Unit.Documentation", "Unit.After", "Unit.Wants", "Unit.RequiresMountsFor",
		"Service.ExecStart", "Service.ExecReload", "Service.Environment", "Service.EnvironmentFile", "Service.ConfigurationDirectory",
	}
	for _, u := range []unit{own, kubelet} {
		for key := range u {
			if !slices.Contains(differ, key) && !slices.Equal(own[key], kubelet[key]) {
				t.Errorf("%s is %q in wardlet.service, and %q in kubelet.service", key, own[key], kubelet[key])
			}
		}
	}
	// The drop-in file of kubeadm's packages replaces ExecStart and uses these variables.
	for _, name := range []string{"KUBELET_KUBECONFIG_ARGS", "KUBELET_CONFIG_ARGS", "KUBELET_KUBEADM_ARGS", "KUBELET_EXTRA_ARGS"} {
		if !slices.Contains(kubelet.words("Service.ExecStart"), "$"+name) {
			t.Errorf("the command lacks $%s", name)
		}
	}
	if file := "-/var/lib/kubelet/kubeadm-flags.env"; !slices.Contains(kubelet["Service.EnvironmentFile"], file) {
		t.Errorf("no EnvironmentFile=%s", file)
	}
}
