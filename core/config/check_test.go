package config

import (
	"strings"
	"testing"
)

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"an unknown key, with the nearest one": {
			source + "perod = \"20s\"\n",
			`agent.toml:5: source.perod: unknown key; did you mean "period"?`,
		},
		"no source": {
			"",
			"agent.toml: no source of pods; add one, for example:\n" + source,
		},
		"a level no logger has": {
			"log_level = \"loud\"\n" + source,
			`agent.toml:1: log_level: want "debug", "info", "warn" or "error", found "loud"`,
		},
		"a frequency that is not positive": {
			source + "[sync]\nfrequency = \"0s\"\n",
			`agent.toml:6: sync.frequency: want more than 0s, found 0s`,
		},
		"several faults, by line": {
			"log_format = \"xml\"\nnode_name = \"a b\"\n[sync]\nfrequency = \"-1s\"\n" + source,
			"agent.toml:1: log_format: want \"text\" or \"json\", found \"xml\"\n" +
				"agent.toml:2: node_name: \"a b\" is no node name: a lowercase RFC 1123 subdomain must consist of",
		},
		"another end of a denied replacement": {
			source + "[sync]\non_denied_replacement = \"drop\"\n",
			`agent.toml:6: sync.on_denied_replacement: want "keep" or "stop", found "drop"`,
		},
		"an unknown cgroup driver": {
			source + "[runtime]\ncgroup_driver = \"runc\"\n",
			`agent.toml:6: runtime.cgroup_driver: want "auto", "cgroupfs" or "systemd", found "runc"`,
		},
		"unknown cgroup driver of a runtime that does not tell": {
			source + "[runtime]\ncgroup_driver_fallback = \"auto\"\n",
			`agent.toml:6: runtime.cgroup_driver_fallback: want "cgroupfs" or "systemd", found "auto"`,
		},
		"an endpoint without a scheme": {
			source + "[runtime]\nendpoint = \"/run/x.sock\"\n",
			`agent.toml:6: runtime.endpoint: "/run/x.sock" has no scheme; write "unix:///run/x.sock"`,
		},
		"an endpoint of another scheme": {
			source + "[runtime]\nendpoint = \"tcp://127.0.0.1:1\"\n",
			`agent.toml:6: runtime.endpoint: want unix:// and the absolute path of a socket, found "tcp://127.0.0.1:1"`,
		},
		"an endpoint with a relative path": {
			source + "[runtime]\nendpoint = \"unix://x.sock\"\n",
			`agent.toml:6: runtime.endpoint: "unix://x.sock" names no absolute path`,
		},
		"the root cgroup": {
			source + "[paths]\ncgroup_root = \"/\"\n",
			`agent.toml:6: paths.cgroup_root: want a cgroup of the agent's own such as "/wardlet", not the root`,
		},
		"no cgroup": {
			source + "[paths]\ncgroup_root = \"\"\n",
			`agent.toml:6: paths.cgroup_root: want a cgroup of the agent's own`,
		},
		"a cgroup that climbs": {
			source + "[paths]\ncgroup_root = \"/wardlet/..\"\n",
			`agent.toml:6: paths.cgroup_root: want a clean path that begins with /, found "/wardlet/.."`,
		},
		"the root as a root": {
			source + "[paths]\npod_root = \"/\"\n",
			`agent.toml:6: paths.pod_root: want a path other than the root, found "/"`,
		},
		"an empty path": {
			source + "[paths]\nsocket = \"\"\n",
			`agent.toml:6: paths.socket: want a path other than the root, found ""`,
		},
		"a socket whose path is too long": {
			source + "[paths]\nsocket = \"/" + strings.Repeat("s", 107) + "\"\n",
			`agent.toml:6: paths.socket: 108 bytes long, more than the 107 the address of a socket may have`,
		},
		"state among the pods": {
			source + "[paths]\nstate_root = \"/var/lib/wardlet/pods/state\"\n",
			`agent.toml:6: paths.state_root: /var/lib/wardlet/pods/state lies in /var/lib/wardlet/pods, from which the agent removes what it does not know`,
		},
		"manifests among the logs": {
			strings.Replace(source, "/etc/wardlet/manifests", "/var/log/containers", 1),
			`agent.toml:4: source.path: /var/log/containers lies in /var/log/containers, from which`,
		},
		"manifests in the state": {
			strings.Replace(source, "/etc/wardlet/manifests", "/var/lib/wardlet/state/manifests", 1),
			`agent.toml:4: source.path: /var/lib/wardlet/state/manifests lies in paths.state_root (/var/lib/wardlet/state)`,
		},
		"a kubeconfig among the pods": {
			source + "[cluster]\nkubeconfig = \"/var/lib/wardlet/pods/kubeconfig\"\n",
			`agent.toml:6: cluster.kubeconfig: /var/lib/wardlet/pods/kubeconfig lies in /var/lib/wardlet/pods, from which`,
		},
		"state where the agent keeps who it is": {
			source + "[paths]\nstate_root = \"/var/lib/wardlet/identity\"\n",
			`agent.toml:6: paths.state_root: /var/lib/wardlet/identity lies in /var/lib/wardlet/identity, where the agent keeps who it is`,
		},
		"pods and logs in one place": {
			source + "[paths]\nlog_root = \"/var/lib/wardlet\"\n",
			`agent.toml:6: paths.log_root: /var/lib/wardlet/pods and /var/lib/wardlet/pods lie in each other`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

// refuses fails the test unless loading text fails with an error that begins with want. In want,
// the file is called agent.toml.
func refuses(t *testing.T, text, want string) {
	t.Helper()
	path := write(t, text)
	_, err := load(path, noEnv)
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.ReplaceAll(err.Error(), path, "agent.toml")
	got, ok := strings.CutPrefix(got, "the configuration cannot be used:\n")
	if !ok || !strings.HasPrefix(got+"\n", want) {
		t.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
}

func TestLoadTakes(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a kubelet's cgroup, where it is named":        source + "[paths]\ncgroup_root = \"/kubepods\"\n",
		"a directory whose name begins like the swept": source + "[paths]\nstate_root = \"/var/lib/wardlet/pods-state\"\n",
		"several sources, each with a name of its own": source + strings.Replace(source, "static", "second", 1),
		"policies beside sources that have no path":    "[policy]\ndir = \"/etc/wardlet/policies\"\n" + server,
		"pods without a resolver configuration":        source + "[runtime]\nresolv_conf = \"\"\n",
		"a node's name":                                "node_name = \"edge-1.example\"\n" + source,
		"a log of debug messages, one object per line": "log_level = \"debug\"\nlog_format = \"json\"\n" + source,
		"a socket whose path is as long as it may be":  source + "[paths]\nsocket = \"/" + strings.Repeat("s", 106) + "\"\n",
		"roots of a second agent":                      source + "[paths]\nstate_root = \"/x/state\"\npod_root = \"/x\"\nlog_root = \"/x/log\"\nsocket = \"/x/w.sock\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := load(write(t, text), noEnv); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRuntime_logSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"": 10 << 20, `container_log_max_size = "500k"`: 500_000, `container_log_max_size = "-1"`: -1} {
		c, err := load(write(t, source+"[runtime]\n"+text+"\n"), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Runtime.MaxLogSize(); got != want {
			t.Errorf("%s: %d bytes, want %d", text, got, want)
		}
	}
	const runtime = source + "[runtime]\n"
	refuses(t, runtime+"container_log_max_size = \"0\"\n", `agent.toml:6: runtime.container_log_max_size: want a quantity of bytes such as "10Mi", or "-1" for logs that are not rotated, found "0"`)
	refuses(t, runtime+"container_log_max_size = \"10 MB\"\n", `agent.toml:6: runtime.container_log_max_size: want a quantity of bytes such as "10Mi"`)
	refuses(t, runtime+"container_log_max_files = 1\n", "agent.toml:6: runtime.container_log_max_files: want at least 2, the log and what it was before, found 1")
}

func TestRuntimeHandlers_refused(t *testing.T) {
	t.Parallel()
	const handler = source + "[[runtime.handler]]\n"
	for name, test := range map[string]struct{ text, want string }{
		"without a class": {
			handler + "handler = \"runsc\"\n",
			`agent.toml:5: runtime.handler.class: missing; pods name it in spec.runtimeClassName, for example class = "gvisor"`,
		},
		"a class that is no name": {
			handler + "class = \"gVisor\"\n", `agent.toml:6: runtime.handler.class: "gVisor" is no name of a runtime class: `,
		},
		"two of one class": {
			handler + "class = \"a\"\n[[runtime.handler]]\nclass = \"a\"\nhandler = \"b\"\n",
			`agent.toml:8: runtime.handler.class: "a" is the class of another handler; leave one of them`,
		},
		"a handler that is no name": {
			handler + "class = \"a\"\nhandler = \"a.b\"\n", `agent.toml:7: runtime.handler.handler: "a.b" is no name of a runtime handler: `,
		},
		"a class that no handler can be called": {
			handler + "class = \"a.b\"\n",
			`agent.toml:5: runtime.handler.handler: missing, and the class "a.b" cannot be the runtime's name for it; write it, for example handler = "runsc"`,
		},
		"a key that is none": {
			handler + "class = \"a\"\nhandlr = \"b\"\n", `agent.toml:7: runtime.handler.handlr: unknown key; did you mean "handler"?`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

func TestRuntimeHandlers_byClass(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, source+"[[runtime.handler]]\nclass = \"gvisor\"\nhandler = \"runsc\"\n[[runtime.handler]]\nclass = \"kata\"\n"+
		"[[runtime.handler]]\nclass = \"a.b\"\nhandler = \"kata\"\n"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]string{"gvisor": "runsc", "kata": "kata", "a.b": "kata", "runsc": "", "": ""} {
		if got, ok := c.Runtime.HandlerOf(class); got != want || ok != (want != "") {
			t.Errorf("handler of %q: %q, %t; want %q", class, got, ok, want)
		}
	}
}
