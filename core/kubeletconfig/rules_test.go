package kubeletconfig

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

const clientCA = "authentication: {x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}\n"

// Without a kubeconfig no API server says what a client of the node's API may do.
func TestRead_withoutAKubeconfig(t *testing.T) {
	t.Parallel()
	const served = `listen = "0.0.0.0:10250"`
	for name, test := range map[string]struct {
		flags, file string
		// fault is where the fault is, and says is what the agent.toml says.
		fault, says string
		warnings    string
	}{
		"the default mode":           {"--config=FILE", clientCA, "config.yaml:3: authentication.x509.clientCAFile", "", ""},
		"the empty mode":             {"--config=FILE", clientCA + "authorization: {mode: ''}\n", "config.yaml:3: authentication.x509.clientCAFile", "", ""},
		"mode Webhook":               {"--config=FILE", clientCA + "authorization:\n  mode: Webhook\n", "config.yaml:5: authorization.mode", "", ""},
		"an unknown mode":            {"--config=FILE", clientCA + "authorization: {mode: AlwaysDeny}\n", "config.yaml:4: authorization.mode", "", ""},
		"all faults at once":         {"--config=FILE", clientCA + "runOnce: true\n", "config.yaml:3: authentication.x509.clientCAFile config.yaml:4: runOnce", "", ""},
		"mode AlwaysAllow":           {"--config=FILE", clientCA + "authorization: {mode: AlwaysAllow}\n", "", served, "config.yaml:4: authorization.mode"},
		"mode AlwaysAllow of a flag": {"--config=FILE --authorization-mode=AlwaysAllow", clientCA, "", served, "the kubelet's flags"},
		"no server":                  {"--config=FILE", clientCA + "enableServer: False\n", "", "", ""},
		"no authority":               {"--config=FILE", "authorization: {mode: Webhook}\n", "", "", "config.yaml"},
		"a kubeconfig":               {"--config=FILE --kubeconfig=/k", clientCA, "", served, ""},
		"flags alone":                {"--client-ca-file=/ca", "", "", served, ""},
		"mode Webhook of a flag":     {"--client-ca-file=/ca --authorization-mode=Webhook", "", "the kubelet's flags", "", ""},
		"fields of a cluster": {
			"--config=FILE --node-ip=10.0.0.7", "enableServer: false\nclusterDNS: [10.96.0.10]\nclusterDomain: cluster.local\nrotateCertificates: true\n", "", "",
			"config.yaml:4: clusterDNS config.yaml:5: clusterDomain config.yaml:6: rotateCertificates the kubelet's flags",
		},
		"certificates that are not renewed": {"--config=FILE", "enableServer: false\nrotateCertificates: false\n", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := read(t, test.flags, test.file)
			if got := places(err); got != test.fault {
				t.Fatalf("faults at %q, want %q: %v", got, test.fault, err)
			}
			if err != nil {
				return
			}
			text, err := c.TOML()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), test.says) || strings.Contains(string(text), served) != (test.says == served) {
				t.Errorf("no %q in\n%s", test.says, text)
			}
			if inCluster := strings.Contains(test.flags, "kubeconfig"); (c.Table("cluster") != nil) != inCluster {
				t.Errorf("cluster %v", c.Table("cluster"))
			}
			if got := places(c.Warnings); got != test.warnings {
				t.Errorf("warnings at %q, want %q: %v", got, test.warnings, c.Warnings)
			}
		})
	}
	_, err := read(t, "--config=FILE", clientCA)
	for _, remedy := range []string{"--kubeconfig", "[cluster] kubeconfig", "authorization.mode: AlwaysAllow", "enableServer: false"} {
		if err == nil || !strings.Contains(err.Error(), remedy) {
			t.Errorf("no remedy %q in %v", remedy, err)
		}
	}
}

// An empty text, list or map is the default, as with a kubelet; an empty resolvConf is none.
func TestRead_emptyValues(t *testing.T) {
	t.Parallel()
	const before = "enableServer: false\n"
	want, err := read(t, "--config=FILE --kubeconfig=/k", before)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := want.TOML()
	if err != nil {
		t.Fatal(err)
	}
	for field, adds := range map[string]string{
		"containerRuntimeEndpoint: ''": "", "imageServiceEndpoint: ''": "", "containerLogMaxSize: ''": "", "memorySwap: {swapBehavior: ''}": "", "clusterDomain: ''": "",
		"memoryReservationPolicy: ''": "", "cgroupDriver: ''": "", "cgroupRoot: ''": "", "podLogsDir: ''": "", "tlsCertFile: ''": "", "tlsPrivateKeyFile: ''": "",
		"authentication: {x509: {clientCAFile: ''}}": "", "staticPodPath: ''": "", "staticPodURL: ''": "", "providerID: ''": "", "reservedSystemCPUs: ''": "",
		"tlsCipherSuites: []": "", "tlsCurvePreferences: []": "", "staticPodURLHeader: {}": "", "tlsMinVersion: ''": "", "systemReservedCgroup: ''": "",
		"kubeReservedCgroup: ''": "", "qosReserved: {}": "", "reservedMemory: []": "", "imagePullCredentialsVerificationPolicy: ''": "", "healthzBindAddress: ''": "",
		"topologyManagerPolicy: ''": "", "clusterDNS: []": "", "systemReserved: {}": "", "evictionSoft: {}": "", "port: 0": "",
		"resolvConf: ''": `resolv_conf = ""` + "\n",
		"containerRuntimeEndpoint: ''\nimageServiceEndpoint: unix:///run/containerd/containerd.sock": "",
	} {
		c, err := read(t, "--config=FILE --kubeconfig=/k", before+field+"\n")
		if err != nil {
			t.Errorf("%s: %v", field, err)
			continue
		}
		text, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Replace(string(text), adds, "", 1); got != string(defaults) || !strings.Contains(string(text), adds) || len(c.Warnings) > 0 {
			t.Errorf("%s: warnings %v, agent.toml (-want +got):\n%s", field, c.Warnings, cmp.Diff(string(defaults), string(text)))
		}
	}
	for _, field := range []string{"maxPods: ''", "syncFrequency: ''", "seccompDefault: ''"} { // as with a kubelet
		if _, err := read(t, "--config=FILE --kubeconfig=/k", field+"\n"); err == nil {
			t.Errorf("%s is accepted", field)
		}
	}
}

// A boolean is what YAML and the flags of a kubelet take for one.
func TestRead_booleans(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags, file string
		says        string // FAULT for an error
		warnings    string
	}{
		"pulls of YAML":                {"--config=FILE", "enableServer: false\nserializeImagePulls: False\n", "parallel_pulls = 64", ""},
		"pulls of a flag":              {"--config=FILE --serialize-image-pulls=0", "enableServer: false\n", "parallel_pulls = 64", ""},
		"one pull of a flag":           {"--config=FILE --serialize-image-pulls=T", "enableServer: false\nserializeImagePulls: false\n", "parallel_pulls = 1\n", ""},
		"no server":                    {"--config=FILE", "enableServer: FALSE\n" + clientCA, "", ""},
		"a server":                     {"--config=FILE --kubeconfig=/k --enable-server=1", clientCA, "listen = \"0.0.0.0:10250\"", ""},
		"merged defaults":              {"--config=FILE", "enableServer: false\nmergeDefaultEvictionSettings: True\nevictionHard: {memory.available: 1Gi}\n", "[eviction.hard]\n\"memory.available\" = \"1Gi\"\n\n", ""},
		"what the agent does":          {"--config=FILE", "enableServer: false\ncpuCFSQuota: True\nregisterNode: TRUE\nrunOnce: False\nauthentication: {anonymous: {enabled: False}}\n", "", ""},
		"what the agent does, flags":   {"--config=FILE --cpu-cfs-quota=1 --runonce=f --enable-debugging-handlers --anonymous-auth=0", "enableServer: false\n", "", ""},
		"what the agent does not":      {"--config=FILE", "enableServer: false\nprotectKernelDefaults: True\n", "", "config.yaml:4: protectKernelDefaults"},
		"what the agent does not, set": {"--config=FILE --runonce=1", "enableServer: false\n", "FAULT", ""},
		"a key":                        {"--config=FILE --seccomp-default=1", "enableServer: false\n", "seccomp_default = true", ""},
		"a gate":                       {"--feature-gates=Fancy=2", "", "FAULT", ""},
		"a text, server":               {"--config=FILE", "enableServer: maybe\n", "FAULT", ""},
		"a text, pulls":                {"--config=FILE", "serializeImagePulls: maybe\n", "FAULT", ""},
		"a text, merged":               {"--config=FILE", "mergeDefaultEvictionSettings: maybe\n", "FAULT", ""},
		"a text, always":               {"--config=FILE", "registerNode: maybe\n", "FAULT", ""},
		"a text of a flag":             {"--seccomp-default=yes", "", "FAULT", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := read(t, test.flags, test.file)
			if test.says == "FAULT" {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := c.TOML()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), test.says) || strings.Contains(test.file, "FALSE") && strings.Contains(string(text), "\nlisten") {
				t.Errorf("no %q in\n%s", test.says, text)
			}
			if got := places(c.Warnings); got != test.warnings {
				t.Errorf("warnings at %q, want %q: %v", got, test.warnings, c.Warnings)
			}
		})
	}
}

// A kubelet sets memory.high only with the feature gate MemoryQoS.
func TestRead_memoryThrottlingFactor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"": nil, "memoryThrottlingFactor: 0.9\n": nil, "featureGates: {MemoryQoS: true}\n": 0.9, "featureGates: {MemoryQoS: True}\nmemoryThrottlingFactor: 0.7\n": 0.7,
		"featureGates: {MemoryQoS: false}\nmemoryThrottlingFactor: 0.7\n": nil, "featureGates: {AllAlpha: true}\nmemoryThrottlingFactor: 0.7\n": 0.7,
		"featureGates: {AllAlpha: true, MemoryQoS: false}\n": nil, "featureGates: {Fancy: true}\nmemoryThrottlingFactor: 0.7\n": nil,
	} {
		c, err := read(t, "--config=FILE", text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := c.Table("node")["memory_throttling_factor"]; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"memoryThrottlingFactor: much\n", "featureGates: {MemoryQoS: 7}\n"} {
		if _, err := read(t, "--config=FILE", text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	c, err := read(t, "--config=FILE --feature-gates=MemoryQoS=1", "enableServer: false\n")
	if err != nil || c.Table("node")["memory_throttling_factor"] != 0.9 || len(c.Warnings) > 0 {
		t.Errorf("by a flag: %+v, %v", c, err)
	}
}

// The field counts where the runtime does not say its driver, as with a kubelet.
func TestRead_cgroupDriver(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags, file string
		want        any
	}{
		{"--config=FILE", "", nil},
		{"--config=FILE", "cgroupDriver: systemd\n", "systemd"},
		{"--config=FILE --cgroup-driver=cgroupfs", "cgroupDriver: systemd\n", "cgroupfs"},
	} {
		c, err := read(t, test.flags, test.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Table("runtime"); got["cgroup_driver_fallback"] != test.want || got["cgroup_driver"] != nil {
			t.Errorf("%s, %q: %v, want %v", test.flags, test.file, got, test.want)
		}
	}
}

// A kubelet has defaults only for a --config file without evictionHard. Drop-in files are merged into
// these defaults, and flags replace all.
func TestRead_evictionHard(t *testing.T) {
	t.Parallel()
	type thresholds map[string]string
	// none are all signals without a threshold, and but adds some.
	none := func(but thresholds) thresholds {
		all := thresholds{}
		for _, s := range threshold.Signals() {
			all[string(s)] = "0%"
		}
		maps.Copy(all, but)
		return all
	}
	memory, pid := thresholds{"memory.available": "1Gi"}, thresholds{"pid.available": "5%"}
	for name, test := range map[string]struct {
		flags string
		files []string // the first is that of --config
		// want lacks the signals with a default.
		want thresholds
	}{
		"nothing":                        {"", []string{""}, nil},
		"null":                           {"", []string{"evictionHard: null\n"}, nil},
		"an empty map":                   {"", []string{"evictionHard: {}\n"}, none(nil)},
		"an empty map with the defaults": {"", []string{"evictionHard: {}\nmergeDefaultEvictionSettings: true\n"}, nil},
		"one":                            {"", []string{"evictionHard: {memory.available: 1Gi}\n"}, none(memory)},
		"one with the defaults":          {"", []string{"evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true\n"}, memory},
		"one of a drop-in file":          {"", []string{"", "evictionHard: {memory.available: 1Gi}\n"}, memory},
		"one of each":                    {"", []string{"evictionHard: {pid.available: 5%}\n", "evictionHard: {memory.available: 1Gi}\n"}, none(thresholds{"memory.available": "1Gi", "pid.available": "5%"})},
		"an empty drop-in file":          {"", []string{"", "evictionHard: {}\n"}, nil},
		"empty, and a drop-in file":      {"", []string{"evictionHard: {}\n", "evictionHard: {memory.available: 1Gi}\n"}, none(memory)},
		"removed":                        {"", []string{"evictionHard: {memory.available: 1Gi}\n", "evictionHard: null\n"}, none(nil)},
		"removed defaults":               {"", []string{"", "evictionHard: null\n"}, none(nil)},
		"removed merged defaults":        {"", []string{"evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true\n", "evictionHard: null\n"}, none(nil)},
		"removed, and a later file":      {"", []string{"evictionHard: {memory.available: 1Gi}\n", "evictionHard: ~\n", "evictionHard: {pid.available: 5%}\n"}, none(pid)},
		"a removed default":              {"", []string{"", "evictionHard: {memory.available: null}\n"}, thresholds{"memory.available": "0%"}},
		"a removed entry":                {"", []string{"evictionHard: {memory.available: 1Gi, pid.available: 5%}\n", "evictionHard: {memory.available: null}\n"}, none(pid)},
		"a flag":                         {"--eviction-hard=memory.available<1Gi", []string{"evictionHard: {pid.available: 5%}\nmergeDefaultEvictionSettings: true\n"}, none(memory)},
		"an empty flag":                  {"--eviction-hard=", []string{"evictionHard: {pid.available: 5%}\n"}, none(nil)},
		"an empty flag, no field":        {"--eviction-hard=", []string{""}, none(nil)},
		"flags alone":                    {"", nil, none(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, err := ParseCommand(strings.Fields(test.flags))
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, text := range test.files {
				texts = append(texts, head+"enableServer: false\n"+text)
			}
			if path, dropIns := write(t, texts...); len(texts) > 0 {
				command.Config, command.ConfigDir = path, dropIns
			}
			c, err := Read(command)
			if err != nil {
				t.Fatal(err)
			}
			got := thresholds{}
			hard, _ := c.Table("eviction")["hard"].(map[string]any)
			for signal, value := range hard {
				got[signal] = value.(string)
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(test.want, got))
			}
		})
	}
}

// A drop-in file removes a whole map, or the fields of a table, with null; an empty flag removes them,
// too, but the gates of files stay.
func TestRead_removedMaps(t *testing.T) {
	t.Parallel()
	command := written(t, head+clientCA+"systemReserved: {cpu: 1, memory: 1Gi}\nkubeReserved: {cpu: 1}\nevictionSoft: {memory.available: 1Gi}\nfeatureGates: {Fancy: true}\nenableServer: false\n",
		head+"systemReserved: null\nauthentication: null\nkubeReserved: {cpu: 2}\n")
	for _, flags := range []string{"--eviction-soft=", "--kube-reserved=", "--feature-gates=Other=true"} {
		more, err := ParseCommand([]string{flags})
		if err != nil {
			t.Fatal(err)
		}
		command.fields = append(command.fields, more.fields...)
	}
	c, err := Read(command)
	if err != nil {
		t.Fatal(err)
	}
	soft := c.Table("eviction")["soft"]
	if got := slices.Sorted(maps.Keys(c.Table("node"))); !slices.Equal(got, []string{"static_pods_are_critical"}) || soft != nil || c.Table("node_api")["client_ca_file"] != nil {
		t.Errorf("node %v, soft thresholds %v, node_api %v", got, soft, c.Table("node_api"))
	}
	if got, want := places(c.Warnings), "config.yaml:7: featureGates.Fancy the kubelet's flags"; got != want {
		t.Errorf("warnings at %q, want %q", got, want)
	}
}

func TestRead_noMaps(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"evictionHard: 5%", "systemReserved: [cpu]", "authentication: true", "featureGates: ''"} {
		if _, err := read(t, "--config=FILE", field+"\n"); err == nil || !strings.Contains(err.Error(), "want a map") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestRead_processAndLog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags, file string
		score       int
		logFormat   any
		// faults and warnings are where they are.
		faults, warnings string
	}{
		"the defaults":           {"--config=FILE", "", -999, nil, "", ""},
		"a score":                {"--config=FILE", "oomScoreAdj: -500\n", -500, nil, "", ""},
		"a score of zero":        {"--config=FILE", "oomScoreAdj: 0\n", 0, nil, "", ""},
		"a score of a flag":      {"--config=FILE --oom-score-adj=-1", "oomScoreAdj: -500\n", -1, nil, "", ""},
		"a score that is none":   {"--config=FILE", "oomScoreAdj: -1001\n", 0, nil, "config.yaml:3: oomScoreAdj", ""},
		"logs in JSON":           {"--config=FILE", "logging: {format: json, verbosity: 2}\n", -999, "json", "", ""},
		"logs in JSON by a flag": {"--config=FILE --logging-format=json", "logging: {format: text}\n", -999, "json", "", ""},
		"logs in text by a flag": {"--config=FILE --logging-format=text", "logging: {format: json}\n", -999, nil, "", ""},
		"logs in another form":   {"--config=FILE", "logging: {format: xml}\n", 0, nil, "config.yaml:3: logging.format", ""},
		"no field of logging":    {"--config=FILE", "logging: {formal: json}\n", 0, nil, "config.yaml:3: logging.formal", ""},
		"answers cached for less": {
			"--config=FILE", "authentication: {webhook: {cacheTTL: 10s}}\nauthorization: {webhook: {cacheAuthorizedTTL: 30s, cacheUnauthorizedTTL: 30s}}\n", -999, nil, "",
			"config.yaml:3: authentication.webhook.cacheTTL config.yaml:4: authorization.webhook.cacheAuthorizedTTL",
		},
		"other user namespaces":  {"--config=FILE", "userNamespaces: {idsPerPod: 131072}\n", -999, nil, "", "config.yaml:3: userNamespaces.idsPerPod"},
		"a pod CIDR of the node": {"--config=FILE", "podCIDR: 10.1.0.0/24\n", -999, nil, "", "config.yaml:3: podCIDR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := read(t, test.flags, test.file+"enableServer: false\n")
			if got := places(err); got != test.faults {
				t.Fatalf("faults at %q, want %q: %v", got, test.faults, err)
			}
			if err != nil {
				return
			}
			if got := c.keys["log_format"]; c.OOMScore != test.score || got != test.logFormat || places(c.Warnings) != test.warnings {
				t.Errorf("score %d, log format %v, warnings at %q; want %d, %v, %q", c.OOMScore, got, places(c.Warnings), test.score, test.logFormat, test.warnings)
			}
		})
	}
}

func TestParseCommand_nodeIP(t *testing.T) {
	t.Parallel()
	for value, fault := range map[string]string{"10.0.0.2": "", "fd00::2": "", "0.0.0.0": "", "10.0.0.2,fd00::2": "the kubelet's flags", "::": "the kubelet's flags"} {
		c, err := ParseCommand([]string{"--node-ip=" + value})
		if got := places(err); got != fault {
			t.Errorf("%s: fault at %q, want %q: %v", value, got, fault, err)
		}
		if err == nil && c.nodeIP == "0.0.0.0" {
			t.Error("the unspecified address became that of the node")
		}
	}
}
