package plane

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/state"
)

// The names of the sources.
const (
	sourceName    = "static"
	hostileSource = "hostile"
)

// patience bounds waits that have no promised limit.
const patience = time.Minute

// recordBytes is how much disk space the decision records of each owner may
// use.
const recordBytes = 8 << 20

// rig is a plane with everything it needs and the mux that asks it.
type rig struct {
	*policy.Engine
	// home is the directory of the agent's own files.
	home   string
	gate   *witness
	stream *stream
	mux    *mux.Mux
	// source is the source of the ordinary pods, hostile that of a hostile tenant.
	source, hostile *mux.Sink
	// stop stops everything and waits for it.
	stop func()
}

// newRig makes a rig and runs it until the end of the test. dir has the operator's
// policies. In addition to the ordinary source there is one for a hostile
// tenant.
func newRig(t *testing.T, dir string, tenants ...policy.Tenant) *rig {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	home := t.TempDir()
	disk, err := state.Open(filepath.Join(home, "state"), log)
	must(t, err)
	limits := map[string]int64{"": recordBytes}
	for i := range tenants {
		limits[tenants[i].Name] = recordBytes
	}
	records, err := disk.Decisions(limits)
	must(t, err)
	engine, err := wasm.NewEngine(filepath.Join(home, "compiled"), log, wasm.WithCompiling(patient, compile.Normal))
	must(t, err)
	r := &rig{home: home, stream: newStream()}
	r.Engine = policy.New(policy.Config{
		Dir: dir, Tenants: tenants, Sources: []string{sourceName, hostileSource}, DefaultVerdict: api.Allow,
		Kinds: map[string]string{sourceName: api.KindFile, hostileSource: api.KindFile}, Node: "node-1", Kept: disk.PolicySets(), Version: "test",
		Records: records, Loader: eval.Sandbox(engine), Logger: log, Now: time.Now, Facts: r.nodeFacts(),
	})
	r.gate = newWitness(r.Engine)
	r.mux = mux.New(mux.Config{
		Sources: []mux.Source{{Name: sourceName, Kind: api.KindFile}, {Name: hostileSource, Kind: api.KindFile}}, Documents: disk.Documents(), Gate: r.gate,
		Filter: r.Engine, Logger: log, Now: time.Now,
	})
	r.source, err = r.mux.Sink(sourceName)
	must(t, err)
	r.hostile, err = r.mux.Sink(hostileSource)
	must(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{r.Run, r.mux.Run} {
		running.Go(func() {
			if err := run(ctx); ctx.Err() == nil {
				t.Errorf("it ended by itself: %v", err)
			}
		})
	}
	running.Go(func() { r.stream.read(r.mux.Updates()) })
	r.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		if err := records.Close(); err != nil {
			t.Error(err)
		}
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// nodeFacts returns what policies may read of the node, as in the agent: the pods that
// the mux has forwarded. They count as running until the mux removes them.
func (r *rig) nodeFacts() *policy.Node {
	return &policy.Node{
		Is: func() (labels, allocatable map[string]string) { return nil, map[string]string{"pods": "110"} },
		Pods: func() (pods []policy.NodePod) {
			for _, d := range r.mux.Pods() {
				if d.Admitted {
					pods = append(pods, policy.NodePod{Pod: d.Pod, Source: d.Origin.Source})
				}
			}
			return pods
		},
		Wanted: func(uid types.UID, instance string) bool { return r.mux.WantedAs(uid, instance) },
	}
}

// set returns the state of an owner's set; the operator has an empty name.
func (r *rig) set(tenant string) api.PolicySet {
	for _, s := range r.Sets() {
		if s.Tenant == tenant {
			return s
		}
	}
	return api.PolicySet{}
}

// ready waits until the operator and the tenants have a set in force.
func (r *rig) ready(t *testing.T, tenants ...string) {
	t.Helper()
	eventually(t, patience, func() string {
		for _, owner := range append(tenants, "") {
			if set := r.set(owner); !set.Ready {
				return fmt.Sprintf("the set of %q is not in force: %s", owner, set.Refused)
			}
		}
		return ""
	})
}

// namespaces assigns to a tenant the namespaces that begin with its name.
func namespaces(tenant string) func(string) bool {
	return func(namespace string) bool { return strings.HasPrefix(namespace, tenant+"-") }
}

// eventually waits until check returns an empty string.
func eventually(t *testing.T, within time.Duration, check func() string) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		wrong := check()
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("after %s: %s", within, wrong)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
