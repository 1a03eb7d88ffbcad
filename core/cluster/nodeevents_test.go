package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// nodeServer is an API server with one node.
type nodeServer struct {
	t    *testing.T
	mu   sync.Mutex
	node *v1.Node
}

func (s *nodeServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	switch {
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]string{"gitVersion": "v1.36.0"})
		return
	case r.Method == http.MethodPost && s.node != nil:
		refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, "it exists")
		return
	case r.Method == http.MethodPost:
		err = s.post(body)
	case r.Method == http.MethodPatch:
		err = s.patch(body)
	}
	if err != nil {
		s.t.Error(err)
	}
	s.node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	answer(w, http.StatusOK, s.node)
}

// post stores the node of a request body, which is protobuf.
func (s *nodeServer) post(body []byte) error {
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))); err != nil {
		return err
	}
	s.node = &v1.Node{}
	return s.node.Unmarshal(envelope.Raw)
}

// patch applies the conditions and the boot ID of a status patch to the node.
func (s *nodeServer) patch(text []byte) error {
	var patch v1.Node
	if err := json.Unmarshal(text, &patch); err != nil {
		return err
	}
	s.node = s.node.DeepCopy()
	for _, c := range patch.Status.Conditions {
		for i := range s.node.Status.Conditions {
			if is := &s.node.Status.Conditions[i]; is.Type == c.Type {
				is.Status = cmp.Or(c.Status, is.Status)
			}
		}
	}
	boot := &s.node.Status.NodeInfo.BootID
	*boot = cmp.Or(patch.Status.NodeInfo.BootID, *boot)
	return nil
}

// heldNode holds the node of an agent.
type heldNode struct{ node *v1.Node }

func (h *heldNode) Get() (*v1.Node, uint64)         { return h.node, 0 }
func (h *heldNode) Update(edit func(*v1.Node)) bool { edit(h.node); return true }
func (h *heldNode) Changed() <-chan struct{}        { return nil }
func (h *heldNode) Load() (*v1.Node, error)         { return nil, nil }
func (h *heldNode) Store(*v1.Node) error            { return nil }

// toldOfNode records the events about the node as "Type Reason: message".
type toldOfNode []string

func (told *toldOfNode) NodeEvent(kind, reason, message string) {
	*told = append(*told, kind+" "+reason+": "+message)
}

// conditions returns the conditions of a node: Ready, and the pressures.
func conditions(ready, pressure v1.ConditionStatus) []v1.NodeCondition {
	return []v1.NodeCondition{
		{Type: v1.NodeMemoryPressure, Status: pressure},
		{Type: v1.NodeDiskPressure, Status: pressure},
		{Type: v1.NodePIDPressure, Status: pressure},
		{Type: v1.NodeReady, Status: ready},
	}
}

func TestNodeEvents(t *testing.T) {
	t.Parallel()
	said := func(reason string) string { return "Normal " + reason + ": Node n status is now: " + reason }
	well := []string{said("NodeHasSufficientMemory"), said("NodeHasNoDiskPressure"), said("NodeHasSufficientPID")}
	bad := []string{said("NodeHasInsufficientMemory"), said("NodeHasDiskPressure"), said("NodeHasInsufficientPID")}
	with := func(events []string, more ...string) []string { return append(append([]string{}, events...), more...) }
	node := func(boot string, c []v1.NodeCondition) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{NodeInfo: v1.NodeSystemInfo{BootID: boot}, Conditions: c}}
	}
	for name, test := range map[string]struct {
		there *v1.Node
		// own are the conditions that the agent has for the node, one set after the other.
		own  [][]v1.NodeCondition
		want []string
	}{
		"a new node": {
			nil, [][]v1.NodeCondition{conditions("True", "False"), conditions("True", "False")}, with(well, said("NodeReady")),
		},
		"a new node that is not ready yet": {
			nil, [][]v1.NodeCondition{conditions("False", "False"), conditions("True", "False")}, with(well, said("NodeReady")),
		},
		"an agent that starts again": {
			node("two", conditions("True", "False")), [][]v1.NodeCondition{conditions("True", "False")}, well,
		},
		"an agent that was away for long": {
			node("two", conditions("Unknown", "Unknown")), [][]v1.NodeCondition{conditions("True", "False")}, with(well, said("NodeReady")),
		},
		"a machine that starts again": {
			node("one", conditions("True", "False")),
			[][]v1.NodeCondition{conditions("False", "False"), conditions("True", "False")},
			with(well, "Warning Rebooted: Node n has been rebooted, boot id: two", said("NodeNotReady"), said("NodeReady")),
		},
		"a server that does not know the boot ID": {
			node("", conditions("True", "False")), [][]v1.NodeCondition{conditions("True", "False")}, well,
		},
		"pressure": {
			node("two", conditions("True", "False")),
			[][]v1.NodeCondition{conditions("True", "True"), conditions("True", "False")},
			with(with(well, bad...), well...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &nodeServer{t: t, node: test.there}
			own := &heldNode{node("two", test.own[0])}
			var told toldOfNode
			m := New(Config{
				Client: serve(t, server.serve), Node: own, Memory: own, Events: &told, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			})
			if err := m.registerOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, c := range test.own {
				own.node.Status.Conditions = c
				if err := m.reportOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := gocmp.Diff(test.want, []string(told)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
