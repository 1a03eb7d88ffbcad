package nodeapi

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNodeLogs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	must(t, os.WriteFile(filepath.Join(n.dir, "secret"), []byte("hush"), 0o600))
	must(t, os.Symlink(filepath.Join(n.dir, "secret"), filepath.Join(n.dir, "var", "link")))
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/logs/":                                  {200, "service.log"},
		"/logs/service.log":                       {200, "started"},
		"/logs/none":                              {404, ""},
		"/logs/..%2fsecret":                       {404, ""},
		"/logs/link":                              {500, ""},
		"/logs/?query=/link":                      {404, "escapes"},
		"/logs/?query=/../secret":                 {404, "no such file"},
		"/logs/?query=/service.log&tailLines=1":   {200, "stopped\n"},
		"/logs/?query=/service.log&pattern=^st.r": {200, "started\n"},
		"/logs/?query=service":                    {200, "started\nstopped\n"}, // it has a file
		"/logs/?query=containerd&tailLines=5&boot=-1&pattern=x&sinceTime=2026-01-02T03:04:05Z&untilTime=2026-01-02T04:04:05%2B01:00": {
			200,
			"--utc --no-pager --output=short-precise --unit=containerd --since=2026-01-02 03:04:05 UTC --until=2026-01-02 03:04:05 UTC --lines=5 --grep=x --boot=-1\n",
		},
		"/logs/?query=containerd&query=kubelet": {200, "--unit=containerd\n--utc --no-pager --output=short-precise --unit=kubelet\n"},
		"/logs/?query=--root":                   {400, `found "--root"`},
		"/logs/?query=a/b":                      {400, `found "a/b"`},
		"/logs/?query=a&query=/b":               {400, "not both"},
		"/logs/?query=a&tailLines=-1":           {400, "tailLines: want a number from 0 to 100000"},
		"/logs/?query=a&boot=1":                 {400, "boot: want 0"},
		"/logs/?query=a&pattern=(":              {400, "pattern: want a regular expression"},
		"/logs/?query=a&sinceTime=yesterday":    {400, "sinceTime: want a time"},
		"/logs/?query=a&sinceTime=2026-01-02T03:04:05Z&untilTime=2025-01-02T03:04:05Z": {400, "sinceTime is after untilTime"},
	} {
		code, text := n.ask(caller{token: "good"}, http.MethodGet, path)
		if code != want.code || !strings.Contains(text, want.text) || strings.Contains(text, "hush") {
			t.Errorf("%s: %d %q, want %d %q", path, code, text, want.code, want.text)
		}
	}
	off := newNode(t, func(c *Config) { c.NodeLogs = nil })
	if code, text := off.ask(caller{token: "good"}, http.MethodGet, "/logs/"); code != 405 || !strings.Contains(text, "node_api.system_logs") {
		t.Errorf("without the key: %d %q", code, text)
	}
}

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/checkpoint/shop/web/main":              {200, "checkpoint-web_shop-main-"},
		"/checkpoint/shop/web/main?timeout=soon": {404, "want seconds"},
		"/checkpoint/shop/web/main?timeout=600":  {500, "no such patience"},
		"/checkpoint/shop/web/side":              {404, "does not run"},
		"/checkpoint/shop/web/none":              {404, "not found"},
		"/checkpoint/shop/none/main":             {404, "does not exist"},
	} {
		if code, text := n.ask(caller{token: "good"}, http.MethodPost, path); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %q, want %d %q", path, code, text, want.code, want.text)
		}
	}
	info, err := os.Stat(filepath.Join(n.dir, "checkpoints"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory, whose files hold the memory of containers: %v, %v", info.Mode(), err)
	}
}

func FuzzParseLogQuery(f *testing.F) {
	f.Add("query=kubelet&tailLines=5&boot=0&pattern=x&sinceTime=2026-01-02T03:04:05Z")
	f.Add("query=/messages")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := parseLogQuery(values)
		if err != nil {
			return
		}
		for _, service := range q.services {
			if strings.HasPrefix(service, "-") || strings.Contains(service, "/") {
				t.Errorf("service %q", service)
			}
		}
		if strings.HasPrefix(q.file, "..") {
			t.Errorf("file %q", q.file)
		}
	})
}
