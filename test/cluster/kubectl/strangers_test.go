//go:build e2e

package kubectl

import (
	"crypto/tls"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestStrangers opens ten thousand connections to the node's API without credentials. Half of them
// say nothing, and half ask for the pods. The API server is still served, and the agent's memory is
// bounded.
func TestStrangers(t *testing.T) {
	s := newSpace(t)
	const many, most = 10_000, 64 << 10 // connections; KiB of memory beside what the agent had
	memory, files := s.memory(), s.openFiles()
	address := cluster.Env["NODE_IP"] + ":10250"
	var all []net.Conn
	t.Cleanup(func() {
		for _, c := range all {
			c.Close()
		}
	})
	served := func() time.Duration {
		began := time.Now()
		if _, err := cluster.Kubectl(t.Context(), "get", "--raw", "/api/v1/nodes/"+cluster.Env["NODE_NAME"]+"/proxy/pods"); err != nil {
			t.Errorf("beside %d connections: %v", len(all), err)
		}
		return time.Since(began)
	}
	alone, slowest, peak := served(), time.Duration(0), 0
	answers := map[int]int{}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // whose server it is does not matter here
	}}
	for i := range many {
		if i%2 == 0 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatalf("connection %d: %v", i, err)
			}
			all = append(all, conn)
			continue
		}
		code := 0
		if answer, err := client.Get("https://" + address + "/pods"); err == nil {
			code = answer.StatusCode
			answer.Body.Close()
		}
		answers[code]++
		if i%1000 == 999 {
			slowest, peak = max(slowest, served()), max(peak, s.memory())
		}
	}
	if answers[http.StatusUnauthorized] != many/2 {
		t.Errorf("answers by status: %v", answers)
	}
	if slowest > 5*time.Second {
		t.Errorf("the API server waited %s", slowest)
	}
	if peak-memory > most {
		t.Errorf("the agent had %d KiB, and %d KiB at most", memory, peak)
	}
	for _, c := range all {
		c.Close()
	}
	s.eventually("all are closed", func() error { return s.noMoreThan(files) })
	t.Logf("%d connections: the API server was served after %s, alone after %s; memory at most %d KiB, was %d KiB", many, slowest, alone, peak, memory)
}
