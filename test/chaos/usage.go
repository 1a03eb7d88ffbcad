package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage are the resources that the agent's process holds.
type usage struct {
	// files is how many descriptors of each file it has, goroutines how many goroutines it reports.
	files      map[string]int
	goroutines int
}

func (u *usage) open() int {
	whole := 0
	for _, count := range u.files {
		whole += count
	}
	return whole
}

// comeAndGo is how many goroutines, and how many plugin instances, may exist temporarily.
const comeAndGo = 2

// more returns what one agent holds and a fresh agent does not.
func (u *usage) more(than *usage) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(u.files)) {
		extra := u.files[name] - than.files[name]
		if extra > 0 && (name != pluginMemory || extra > comeAndGo) {
			all = append(all, fmt.Sprintf("%d descriptors of %s, where a fresh agent has %d", u.files[name], name, than.files[name]))
		}
	}
	if u.goroutines > than.goroutines+comeAndGo {
		all = append(all, fmt.Sprintf("%d goroutines, where a fresh agent has %d", u.goroutines, than.goroutines))
	}
	return all
}

// openFiles returns how many descriptors a process has, by file. Sockets, pipes and the like are
// counted by their kind.
func openFiles(pid int) (map[string]int, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]int{}
	for _, entry := range entries {
		if name, err := os.Readlink(filepath.Join(dir, entry.Name())); err == nil {
			files[kindOfFile(name)]++
		}
	}
	return files, nil
}

// numbers matches the parts of file names that only make the names unique.
var numbers = regexp.MustCompile(`[0-9a-f]{16,}|[0-9]+`)

// pluginMemory is the file behind the memory of a plugin instance.
const pluginMemory = "/memfd:wardlet-plugin (deleted)"

// kindOfFile removes the numbers from a name; of "socket:[123]" it removes everything from the
// colon on.
func kindOfFile(name string) string {
	kind, inside, ok := strings.Cut(name, ":[")
	if _, err := strconv.Atoi(strings.TrimSuffix(inside, "]")); ok && err == nil {
		return kind
	}
	return numbers.ReplaceAllString(name, "#")
}

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

// metric returns the value of a metric without labels.
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
