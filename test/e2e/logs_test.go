//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// chattyPod writes lines of 100 bytes once its volume holds a file. Its log has 22 MB.
const chattyPod = `apiVersion: v1
kind: Pod
metadata:
  name: chatty
spec:
  hostNetwork: true
  restartPolicy: Never
  containers:
  - name: main
    image: registry.example/web:1
    args: [talk, -lines, "150000", -rate, "15000", -when, /start/now]
    volumeMounts:
    - {name: start, mountPath: /start}
  volumes:
  - {name: start, emptyDir: {}}
`

func TestLogRotation_ofAChattyContainer(t *testing.T) {
	t.Parallel()
	const lines, size, files = 150_000, 1 << 20, 5
	n := startNode(t)
	a := newAgent(t, n, "rotates")
	config, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, a.ConfigFile(), strings.Replace(string(config), "[runtime]\n", "[runtime]\ncontainer_log_max_size = \"1Mi\"\n", 1))
	a.start(t)
	a.manifest(t, "chatty.yaml", chattyPod)
	p := a.running(t, "chatty")["chatty"]
	links, err := filepath.Glob(a.Path("log", "containers", "chatty-rotates_default_main-*.log"))
	if err != nil || len(links) != 1 {
		t.Fatalf("links %q, %v", links, err)
	}
	log, err := os.Readlink(links[0])
	if err != nil || filepath.Dir(filepath.Dir(log)) != a.Path("log", "pods", "default_chatty-rotates_"+string(p.UID)) {
		t.Fatalf("the link leads to %s, %v", log, err)
	}

	follow := a.Command(t.Context(), "logs", "-f", "default/chatty")
	output, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	text := bufio.NewScanner(output)
	if !text.Scan() || text.Text() != "ready" {
		t.Fatalf("the log begins with %q, %v", text.Text(), text.Err())
	}
	a.write(t, a.Path("root", "pods", string(p.UID), "volumes", "kubernetes.io~empty-dir", "start", "now"), "")
	filler := strings.Repeat(".", 90)
	for i := range lines {
		if want := fmt.Sprintf("%08d %s", i, filler); !text.Scan() || text.Text() != want {
			t.Fatalf("line %d is %q, %v", i, text.Text(), text.Err())
		}
		if i%1000 != 0 {
			continue
		}
		sum, count := sizeOf(t, filepath.Dir(log))
		if sum > files*size || count > files+1 { // one file may just be compressed
			t.Errorf("after line %d the log has %d bytes in %d files", i, sum, count)
		}
	}
	if text.Scan() || text.Err() != nil {
		t.Errorf("after the last line there is %q, %v", text.Text(), text.Err())
	}
	if err := follow.Wait(); err != nil {
		t.Error(err)
	}
	eventually(t, "the container has ended", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err == nil && pods["chatty-rotates"].Status.Phase != v1.PodSucceeded {
			err = fmt.Errorf("it is %s", pods["chatty-rotates"].Status.Phase)
		}
		return err
	})
	last := fmt.Sprintf("%08d %s\n", lines-1, filler)
	current, err := os.ReadFile(links[0])
	if err != nil {
		t.Error(err)
	}
	if shown, err := a.wardlet("logs", "default/chatty", "--tail", "1"); err != nil || len(current) > 0 && shown != last || len(current) == 0 && shown != "" {
		t.Errorf("the last line is %q, %v", shown, err)
	}
	if len(current) == 0 { // the log was rotated after the last line: the newest rotated file has it
		rotated, err := filepath.Glob(log + ".*")
		rotated = slices.DeleteFunc(rotated, func(path string) bool { return strings.HasSuffix(path, ".gz") })
		if err != nil || len(rotated) != 1 {
			t.Fatalf("files %q, %v", rotated, err)
		}
		current, err = os.ReadFile(rotated[0])
		if err != nil {
			t.Error(err)
		}
	}
	if !strings.HasSuffix(string(current), last) {
		t.Errorf("the newest %d bytes of the log do not end with the last line", len(current))
	}
	compressed, err := filepath.Glob(log + ".*.gz")
	if all, globErr := filepath.Glob(log + "*"); err != nil || globErr != nil || len(all) != files || len(compressed) != files-2 {
		t.Errorf("files %q, %v", all, globErr)
	}
	a.remove(t, "chatty.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}

// sizeOf returns the total size of a directory's files, in bytes, and their number.
func sizeOf(t *testing.T, dir string) (sum int64, count int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else the file was just removed
			sum += info.Size()
			count++
		}
	}
	return sum, count
}
