package kube

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A server counts the length of a watch from the request, and the answer takes its time. Contact is
// lost only if the watch ends before that length.
func TestFollower_contact(t *testing.T) {
	t.Parallel()
	const requested = time.Second
	for name, test := range map[string]struct {
		answer, length time.Duration
		lost           bool
	}{
		"a watch of the requested length, answered late": {requested - clockDrift/2, requested, false},
		"a watch that ends before":                       {0, requested / 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				over := time.After(test.length)
				time.Sleep(test.answer)
				w.Header().Set("Content-Type", "application/json")
				w.(http.Flusher).Flush()
				<-over
			}))
			defer server.Close()
			client, err := New(Config{Server: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			f := &follower{client: client, what: &Selection{
				GroupVersion: v1.SchemeGroupVersion, Resource: "pods", Object: &v1.Pod{}, List: &v1.PodList{}, Good: func() {}, Bad: func(error) {},
			}}
			defer f.calls.close()
			w, err := f.WatchWithContext(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(requested.Seconds()))})
			if err != nil {
				t.Fatal(err)
			}
			for range w.ResultChan() {
				t.Error("an event")
			}
			if _, lost := f.origin.take(); !lost.IsZero() != test.lost {
				t.Errorf("contact lost: %t, want %t", !lost.IsZero(), test.lost)
			}
		})
	}
}
