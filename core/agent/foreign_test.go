package agent

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/site"
)

// locked is a log that is read while it is written.
type locked struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestLogDriver_namesTheRemedyOfAnotherDriver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		driver *runtimeapi.CgroupDriver
		want   string
	}{
		"another":      {runtimeapi.CgroupDriver_SYSTEMD.Enum(), "set SystemdCgroup = false in containerd's configuration and restart containerd"},
		"the same":     {runtimeapi.CgroupDriver_CGROUPFS.Enum(), ""},
		"not reported": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			cri.SetCgroupDriver(test.driver)
			n := site.New(t)
			n.Cfg.Runtime.Endpoint = cri.Endpoint()
			var log locked
			a, err := Open(n.Cfg, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer a.close()
			a.logDriver(context.Background())
			if got := log.String(); strings.Contains(got, "level=ERROR") != (test.want != "") || !strings.Contains(got, test.want) {
				t.Errorf("log %q, want %q", got, test.want)
			}
		})
	}
}
