//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/bench/latency"
	"github.com/wardlet/wardlet/test/privateruntime"
)

var timed = flag.Bool("timed", false, "time the pulls of a tenant, on a machine that has nothing else to do; make bench-isolation does")

// A private image is pulled with the current login of the registry configuration. When its
// registry is gone, a container that must always pull still runs the image that it ran last.
func TestPull_privateImageThenAwayFromItsRegistry(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	registry := startRegistry(t, n, privateruntime.Login{User: "web", Password: "secret"})
	a := newAgent(t, n, "pulls")
	login := func(password string) {
		auth := base64.StdEncoding.EncodeToString([]byte("web:" + password))
		a.write(t, a.Path("config.json"), fmt.Sprintf(`{"auths": {"%s": {"auth": "%s"}}}`, registry.Address(), auth))
	}
	login("wrong")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", "[runtime]\nregistry_config = \""+a.Path("config.json")+"\"\n", 1))
	a.start(t)
	a.manifest(t, "web.yaml", strings.Replace(webPod("web"), "image: registry.example/web:1\n", "image: "+registry.Image("web:1")+"\n    imagePullPolicy: Always\n", 1))
	a.event(t, "web", "Failed", "Pull image", "401 Unauthorized", "set runtime.registry_config")

	login("secret")
	first := a.running(t, "web")["web"]

	if err := registry.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.CRI.StopContainer(t.Context(), &criapi.StopContainerRequest{ContainerId: strings.TrimPrefix(container(first), "containerd://")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the container runs again", func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		p := all["web-pulls"]
		if !ready(p) || p.Status.ContainerStatuses[0].RestartCount == 0 {
			return fmt.Errorf("the pod is %s: %+v", p.Status.Phase, p.Status.ContainerStatuses)
		}
		if is, was := p.Status.ContainerStatuses[0].ImageID, first.Status.ContainerStatuses[0].ImageID; is != was {
			return fmt.Errorf("it runs %s, and ran %s", is, was)
		}
		return nil
	})
	a.event(t, "web", "OfflinePull", "Warning", "which it ran last", "connection refused", "the registry cannot be reached")
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

// While one tenant's registry accepts connections and never answers, another tenant's pulls take
// less than twice as long.
func TestPull_besideARegistryThatHangs(t *testing.T) {
	const hanging, most = 50, 2.0
	pulls := 5
	if *timed {
		pulls = 100
	} else {
		t.Parallel()
	}
	n := startNode(t)
	registry := startRegistry(t, n, privateruntime.Login{})
	hangs := hangingRegistry(t)
	if err := n.SetRegistry(hangs); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, n, "pulls")
	a.write(t, a.ConfigFile(), a.read(t, "agent.toml")+
		"[[tenant]]\nname = \"good\"\nnamespaces = [\"team-good\"]\n[[tenant]]\nname = \"bad\"\nnamespaces = [\"team-bad\"]\n")
	a.start(t)
	image := func(manifest, image string) string {
		return strings.Replace(manifest, "registry.example/web:1", image+"\n    imagePullPolicy: Always", 1)
	}
	pull := func(name string) time.Duration {
		a.manifest(t, name+".yaml", within("team-good", image(hostPod(name, "sleep"), registry.Image("web:1"))))
		took := a.pulled(t, name)
		a.remove(t, name+".yaml")
		return took
	}
	pull("first")
	var alone, beside []time.Duration
	for i := range pulls {
		alone = append(alone, pull(fmt.Sprintf("alone-%d", i)))
	}
	bad := make([]string, hanging)
	for i := range bad {
		bad[i] = fmt.Sprintf("bad-%d.yaml", i)
		a.manifest(t, bad[i], within("team-bad", image(hostPod(fmt.Sprintf("bad-%d", i), "sleep"), fmt.Sprintf("%s/app-%d:1", hangs, i))))
	}
	a.says(t, "describe pod bad-0-pulls -n team-bad", "Pulling")
	for i := range pulls {
		beside = append(beside, pull(fmt.Sprintf("beside-%d", i)))
	}
	a.remove(t, bad...)
	a.nothingLeft(t, n)
	if !*timed {
		return
	}
	before, after := latency.Percentile(alone, 99), latency.Percentile(beside, 99)
	t.Logf("p50 alone %s, beside %s; p99 alone %s, beside %s: %.2f times", latency.Percentile(alone, 50), latency.Percentile(beside, 50),
		before, after, float64(after)/float64(before))
	if float64(after) >= most*float64(before) {
		t.Errorf("beside a registry that hangs the p99 of pulls is %s, without %s; want less than %.1f times that", after, before, most)
	}
}

var withWaiting = regexp.MustCompile(`^Pulled image .* \((.*) with waiting\)`)

// pulled waits until the image of a pod is pulled, and returns how long the pull took, including
// its time in the queue.
func (a *agent) pulled(t *testing.T, name string) (took time.Duration) {
	t.Helper()
	promptly(t, "the image of "+name+" is pulled", func(ctx context.Context) error {
		var events []api.Event
		if err := a.API.Get(ctx, "/v1/events", &events); err != nil {
			return err
		}
		at := slices.IndexFunc(events, func(e api.Event) bool { return e.Name == name+"-"+a.name && e.Reason == "Pulled" })
		if at < 0 {
			return errors.New("there is no such event")
		}
		found := withWaiting.FindStringSubmatch(events[at].Message)
		if found == nil {
			return fmt.Errorf("its event says %q", events[at].Message)
		}
		var err error
		took, err = time.ParseDuration(found[1])
		return err
	})
	return took
}

// hangingRegistry accepts connections and never answers. It returns its HOST:PORT.
func hangingRegistry(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var taken sync.WaitGroup
	var all []net.Conn
	taken.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all = append(all, c)
		}
	})
	t.Cleanup(func() {
		l.Close()
		taken.Wait()
		for _, c := range all {
			c.Close()
		}
	})
	return l.Addr().String()
}
