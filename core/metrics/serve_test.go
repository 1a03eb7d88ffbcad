package metrics

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// get requests url and returns the status and the body.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestAnAddressAnswersMetricsAndNothingElse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	defer served.Wait()
	defer cancel()
	served.Go(func() {
		if err := newMetrics().serve(ctx, l); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	base := "http://" + l.Addr().String()
	if code, body := get(t, base+"/metrics"); code != http.StatusOK || !strings.Contains(body, "\nkubelet_node_name{") || !strings.Contains(body, "\nprocess_resident_memory_bytes ") {
		t.Errorf("status %d: %.300s", code, body)
	}
	if code, _ := get(t, base+"/v1/pods"); code != http.StatusNotFound {
		t.Errorf("/v1/pods: status %d", code)
	}
}

func TestAnAddressThatIsTakenEndsNothing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &logged{line: make(chan struct{}, 1)}
	var served sync.WaitGroup
	served.Go(func() { New("edge", "", slog.New(slog.NewTextHandler(log, nil))).Serve(ctx, l.Addr().String()) })
	select {
	case <-log.line:
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was logged")
	}
	cancel()
	served.Wait()
	if text := log.String(); !strings.Contains(text, "metrics are not served") || !strings.Contains(text, "address already in use") || strings.Count(text, "\n") != 1 {
		t.Errorf("log: %s", text)
	}
}

// logged is a log that signals each line.
type logged struct {
	bytes.Buffer
	line chan struct{}
}

func (l *logged) Write(p []byte) (int, error) {
	defer func() {
		select {
		case l.line <- struct{}{}:
		default:
		}
	}()
	return l.Buffer.Write(p)
}
