package manifest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/wardlet/wardlet/core/api"
)

// observer implements the interface with which a kubelet measures how fast pods start.
type observer struct{}

func (observer) ObservedPodOnWatch(*v1.Pod, time.Time) {}

// delivered returns the pods of an update as the source made them: without the annotation that the
// mux adds.
func delivered(u kubetypes.PodUpdate) []*v1.Pod {
	for _, p := range u.Pods {
		delete(p.Annotations, kubetypes.ConfigFirstSeenAnnotationKey)
	}
	return u.Pods
}

// fewManifests limits how many manifests are tested: a kubelet's sources cannot be stopped and run
// until the process exits.
const fewManifests = 24

// TestFileSourceCallsTheseFunctions compares the functions that are linked by name with the file
// source that calls them.
func TestFileSourceCallsTheseFunctions(t *testing.T) {
	t.Parallel()
	texts := ancestors().texts
	both := map[bool]int{}
	for i := 0; i < len(texts); i += len(texts)/fewManifests + 1 {
		dir := t.TempDir()
		at := place{api.KindFile, filepath.Join(dir, "pod.yaml"), "node-1"}
		if err := os.WriteFile(at.path, []byte(texts[i]), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config.NewPodConfig(record.NewFakeRecorder(100), observer{})
		go config.NewSourceFile(logr.Discard(), dir, types.NodeName(at.node), time.Hour, c.Channel(context.Background(), kubetypes.FileSource))
		want, err := kubelet([]byte(texts[i]), at)
		both[err == nil]++
		select {
		case u := <-c.Updates():
			if diff := cmp.Diff(want, delivered(u), exactly, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pods (-function +source) of\n%s\n%s", excerpt([]byte(texts[i])), diff)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the source delivers nothing")
		}
	}
	if both[true] < 5 || both[false] < 5 {
		t.Errorf("taken and refused: %v", both)
	}
}

// TestHTTPSourceCallsTheseFunctions does the same over HTTP.
func TestHTTPSourceCallsTheseFunctions(t *testing.T) {
	t.Parallel()
	both := map[bool]int{}
	for i, text := range []string{minimal, full, asJSON, jsonList, podList + item("a") + item("b"), podList + item("a") + item("B"), list + kinded("a"), podNamed("A"), "text"} {
		var asked atomic.Int32
		second := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) == 2 {
				close(second)
			}
			fmt.Fprint(w, text)
		}))
		t.Cleanup(server.Close)
		at := place{api.KindHTTP, server.URL, "node-1"}
		c := config.NewPodConfig(record.NewFakeRecorder(100), observer{})
		config.NewSourceURL(logr.Discard(), at.path, http.Header{}, types.NodeName(at.node), 200*time.Millisecond, c.Channel(context.Background(), kubetypes.HTTPSource))
		want, err := kubelet([]byte(text), at)
		both[err == nil]++
		var got []*v1.Pod
		// A source polls again only after it has processed the first answer.
		select {
		case u := <-c.Updates():
			got = delivered(u)
		case <-second:
			select {
			case u := <-c.Updates():
				got = delivered(u)
			case <-time.After(100 * time.Millisecond):
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the source does not ask")
		}
		byName := cmpopts.SortSlices(func(a, b *v1.Pod) bool { return a.Name < b.Name })
		if diff := cmp.Diff(want, got, exactly, cmpopts.EquateEmpty(), byName); diff != "" {
			t.Errorf("%d: pods (-function +source) of\n%s\n%s", i, excerpt([]byte(text)), diff)
		}
	}
	if both[true] < 3 || both[false] < 3 {
		t.Errorf("taken and refused: %v", both)
	}
}
