package agent

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kubeletconfig"
	"github.com/wardlet/wardlet/test/site"
)

func TestConfigz(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	n.Source(t, "static", nil)
	n.Cfg.Sources = append(n.Cfg.Sources,
		config.Source{Name: "second", Kind: config.KindFile, Path: "/second", Period: time.Minute, MissingPath: config.MissingEmpty},
		config.Source{Name: "fleet", Kind: config.KindHTTP, URL: "https://fleet.example/pods?token=hush", Period: time.Minute, Timeout: time.Second},
	)
	n.Cfg.NodeAPI = config.NodeAPI{
		Listen: ":10250", CertFile: "/node.crt", KeyFile: "/node.key", ClientCAFile: "/clients.crt",
		ReadOnlyListen: "127.0.0.1:10255", HealthzListen: "[::1]:10248",
	}
	n.Cfg.Node.ShutdownGracePeriod, n.Cfg.Node.ShutdownGracePeriodCriticalPods = 30*time.Second, 10*time.Second
	n.Cfg.Eviction.Soft = map[string]string{"memory.available": "300Mi"}
	n.Cfg.Eviction.SoftGracePeriod = map[string]time.Duration{"memory.available": 90 * time.Second}
	n.Cfg.Eviction.MaxPodGracePeriod = time.Minute
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	a.workers.SetSyncFrequency(17 * time.Second)
	a.client.SetTimeout(19 * time.Second)
	text, err := json.Marshal(a.configz())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if _, err := kubeletconfig.Parse("config.json", text); err != nil {
		t.Errorf("the agent would not take over its own configuration: %v", err)
	}
	for key, want := range map[string]any{
		"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
		"staticPodPath": n.Cfg.Sources[0].Path, "fileCheckFrequency": n.Cfg.Sources[0].Period.String(),
		"staticPodURL": "https://fleet.example/pods", "httpCheckFrequency": "1m0s",
		"address": "0.0.0.0", "port": 10250.0, "readOnlyPort": 10255.0, "healthzPort": 10248.0, "healthzBindAddress": "::1",
		"syncFrequency": "17s", "runtimeRequestTimeout": "19s", // those in force, not those of the file
		"maxPods": float64(n.Cfg.Node.MaxPods), "cgroupDriver": "cgroupfs", "registerNode": false, "seccompDefault": false,
		"evictionPressureTransitionPeriod": "5m0s", "evictionMaxPodGracePeriod": 60.0,
		"podLogsDir": n.Cfg.Paths.LogRoot + "/pods", "tlsCertFile": "/node.crt", "tlsPrivateKeyFile": "/node.key",
		"shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "10s", "singleProcessOOMKill": false,
	} {
		if got[key] != want {
			t.Errorf("%s: %v, want %v", key, got[key], want)
		}
	}
	eviction, err := json.Marshal([]any{got["evictionHard"], got["evictionSoft"], got["evictionSoftGracePeriod"]})
	if want := `[{"imagefs.available":"15%","imagefs.inodesFree":"5%","memory.available":"100Mi","nodefs.available":"10%","nodefs.inodesFree":"5%"},` +
		`{"memory.available":"300Mi"},{"memory.available":"1m30s"}]`; err != nil || string(eviction) != want {
		t.Errorf("eviction: %s, %v; want %s", eviction, err, want)
	}
	authentication, err := json.Marshal(got["authentication"])
	if want := `{"anonymous":{"enabled":false},"webhook":{"cacheTTL":"0s","enabled":false},"x509":{"clientCAFile":"/clients.crt"}}`; err != nil || string(authentication) != want {
		t.Errorf("authentication: %s, %v; want %s", authentication, err, want)
	}
}
