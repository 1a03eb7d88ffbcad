package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// goroutines asks the agent behind a local socket how many goroutines it has.
func goroutines(ctx context.Context, socket string) (int, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://wardlet/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("ask for metrics: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("ask for metrics: %s", response.Status)
	}
	return metric(response.Body, "go_goroutines")
}

// metric reads the value of one without labels.
func metric(text io.Reader, name string) (int, error) {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			number, err := strconv.ParseFloat(value, 64)
			return int(number), err
		}
	}
	return 0, errors.Join(lines.Err(), fmt.Errorf("there is no metric %s", name))
}
