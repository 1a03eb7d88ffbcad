package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/config"
)

func TestFindAddress_nodeIP(t *testing.T) {
	t.Parallel()
	find := func(address string) (string, error) {
		ip, err := (&Node{cfg: &config.Config{Cluster: config.Cluster{NodeIP: address}}}).findAddress()
		return ip.String(), err
	}
	if ip, err := find("127.0.0.1"); err != nil || ip != "127.0.0.1" {
		t.Errorf("one that an interface has: %s, %v", ip, err)
	}
	const want = "cluster.node_ip: no interface of this machine has 192.0.2.9; "
	if ip, err := find("192.0.2.9"); err == nil || !strings.HasPrefix(err.Error(), want) || ip != "<nil>" {
		t.Errorf("one that no interface has: %s, %v; want %s", ip, err, want)
	}
}

func TestNamedAddress_find(t *testing.T) {
	t.Parallel()
	silent, here := errors.New("no answer"), net.ParseIP("127.0.0.1")
	a := &namedAddress{}
	now := time.Unix(1e9, 0)
	asked := 0
	for i, step := range []struct {
		after time.Duration
		ip    net.IP
		err   error
		want  net.IP
		asked int
	}{
		{0, nil, silent, nil, 1},
		{time.Second, here, nil, nil, 1},
		{resolvePeriod, here, nil, here, 2},
		{resolvePeriod, nil, silent, here, 3},
		{resolvePeriod, net.ParseIP("192.0.2.9"), nil, nil, 4},
		{resolvePeriod, nil, nil, nil, 5},
	} {
		now = now.Add(step.after)
		got := a.find("edge", now, func(context.Context, string) (net.IP, error) {
			asked++
			return step.ip, step.err
		})
		if !got.Equal(step.want) || asked != step.asked {
			t.Errorf("step %d: got %v after %d questions, want %v after %d", i, got, asked, step.want, step.asked)
		}
	}
}

func TestPodCIDRs_tell(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := podCIDRs{log: slog.New(slog.NewTextHandler(&log, nil))}
	away := errors.New("no runtime")
	for i, step := range []struct {
		cidrs []string
		err   error
		want  string // empty if the runtime is not called
	}{
		{nil, nil, ""},
		{[]string{"10.1.0.0/24", "fd00::/64"}, away, "10.1.0.0/24,fd00::/64"},
		{[]string{"10.1.0.0/24", "fd00::/64"}, away, "10.1.0.0/24,fd00::/64"},
		{[]string{"10.1.0.0/24", "fd00::/64"}, nil, "10.1.0.0/24,fd00::/64"},
		{[]string{"10.1.0.0/24", "fd00::/64"}, nil, ""},
		{[]string{"10.2.0.0/24"}, nil, "10.2.0.0/24"},
	} {
		got := ""
		c.tell(t.Context(), &v1.Node{Spec: v1.NodeSpec{PodCIDRs: step.cidrs}}, func(_ context.Context, cidrs string) error {
			got = cidrs
			return step.err
		})
		if got != step.want {
			t.Errorf("step %d: told %q, want %q", i, got, step.want)
		}
	}
	if n := strings.Count(log.String(), "no runtime"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &log)
	}
}
