package nodeapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestNodeLogs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	must(t, os.WriteFile(filepath.Join(n.dir, "secret"), []byte("hush"), 0o600))
	must(t, os.Symlink(filepath.Join(n.dir, "secret"), filepath.Join(n.dir, "var", "link")))
	must(t, os.MkdirAll(filepath.Join(n.dir, "var", "containers"), 0o700))
	must(t, os.Symlink(filepath.Join(n.dir, "var", "service.log"), filepath.Join(n.dir, "var", "containers", "web.log")))
	must(t, os.Symlink(filepath.Join(n.dir, "var", "containers", "web.log"), filepath.Join(n.dir, "var", "twice")))
	must(t, os.Symlink(filepath.Join(n.dir, "var", "round"), filepath.Join(n.dir, "var", "round")))
	must(t, os.Symlink(filepath.Join(n.dir, "var", "..", "secret"), filepath.Join(n.dir, "var", "up")))
	must(t, syscall.Mkfifo(filepath.Join(n.dir, "var", "pipe"), 0o600))
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/logs/":                                  {200, "service.log"},
		"/logs/service.log":                       {200, "started"},
		"/logs/none":                              {404, ""},
		"/logs/..%2fsecret":                       {404, ""},
		"/logs/link":                              {500, ""},
		"/logs/up":                                {500, ""},
		"/logs/round":                             {500, ""},
		"/logs/pipe":                              {403, ""},
		"/logs/containers/":                       {200, "web.log"},
		"/logs/containers/web.log":                {200, "started"},
		"/logs/twice":                             {200, "started"},
		"/logs/?query=/containers/web.log":        {200, "started\nstopped\n"},
		"/logs/?query=/containers":                {404, "no file"},
		"/logs/?query=/link":                      {404, "escapes"},
		"/logs/?query=/../secret":                 {404, "no such file"},
		"/logs/?query=/pipe":                      {404, "no file"},
		"/logs/?query=/service.log":               {200, "started\nstopped\n"},
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

func TestPrintLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*logBlock)
	for name, test := range map[string]struct {
		text    string
		lines   int
		pattern string
		want    string
	}{
		"all":                          {"a\nb\n", -1, "", "a\nb\n"},
		"nothing":                      {"", -1, "", ""},
		"the last of nothing":          {"", 2, "", ""},
		"no line":                      {"a\nb\n", 0, "", ""},
		"the last line":                {"a\nb\n", 1, "", "b\n"},
		"the last line, not ended":     {"a\nb", 1, "", "b"},
		"more lines than there are":    {"a\nb\n", 3, "", "a\nb\n"},
		"as many lines as there are":   {"a\nb\n", 2, "", "a\nb\n"},
		"empty lines":                  {"a\n\n\n", 2, "", "\n\n"},
		"only an empty line":           {"\n", 1, "", "\n"},
		"a begin without a line":       {"\na\n", 2, "", "\na\n"},
		"long lines":                   {"a\n" + long + "\n" + long + "\nb\n", 2, "", long + "\nb\n"},
		"one long line, not ended":     {long, 1, "", long},
		"a block that ends a line":     {"a\n" + strings.Repeat("x", logBlock-1) + "\n", 1, "", strings.Repeat("x", logBlock-1) + "\n"},
		"matches":                      {"a1\nb\na2\nb\na3", -1, "^a", "a1\na2\na3"},
		"the last matches":             {"a1\nb\na2\nb\na3\na4\na5\n", 2, "a", "a4\na5\n"},
		"the last matches, not ended":  {"a1\nb\na2\nb\na3\na4\na5", 3, "a", "a3\na4\na5"},
		"all matches as the last ones": {"a1\nb\na2\nb\n", 5, "a", "a1\na2\n"},
		"no match":                     {"a\nb\n", 5, "c", ""},
		"no line of the matches":       {"a\nb\n", 0, "a", ""},
		"matches in nothing":           {"", 5, "^", ""},
		"a long line matches":          {"a\nb" + long + "\nc\n", -1, "^b", "b" + long + "\n"},
		"the last long line":           {"a\nb" + long + "\nc\nb" + long + "\nc\n", 1, "^b", "b" + long + "\n"},
		"a long line, not ended":       {"a\nb" + long, 1, "^b", "b" + long},
		"a line of a whole block":      {"b" + strings.Repeat("x", logBlock-1) + "\nb\n", -1, "^b", "b" + strings.Repeat("x", logBlock-1) + "\nb\n"},
		"not in the middle of a line":  {long + "\n", -1, "^x$", ""},
	} {
		q := &logQuery{lines: test.lines}
		if test.pattern != "" {
			q.pattern = regexp.MustCompile(test.pattern)
		}
		var out bytes.Buffer
		if err := printLines(t.Context(), &out, strings.NewReader(test.text), int64(len(test.text)), q); err != nil || out.String() != test.want {
			t.Errorf("%s: %.100q (%d bytes), want %.100q (%d bytes); %v", name, out.String(), out.Len(), test.want, len(test.want), err)
		}
	}
}

// made is a file whose lines have a length, 0 for a file without a line. It calls read for each block.
type made struct {
	line int
	read func()
}

func (f made) ReadAt(p []byte, at int64) (int, error) {
	if f.read != nil {
		f.read()
	}
	clear(p)
	if f.line > 0 {
		for i := (f.line - int(at)%f.line) % f.line; i < len(p); i += f.line {
			p[i] = '\n'
		}
	}
	return len(p), nil
}

// counter counts what is written. Like an answer of HTTP it has a buffer to read into.
type counter struct {
	n     int
	block [32 << 10]byte
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

func (c *counter) ReadFrom(r io.Reader) (int64, error) {
	var all int64
	for {
		n, err := r.Read(c.block[:])
		c.n += n
		if all += int64(n); errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// A query ends with its context, whatever it reads.
func TestPrintLines_ends(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]logQuery{
		"all":            {lines: -1},
		"the last lines": {lines: 5},
		"matches":        {lines: -1, pattern: regexp.MustCompile("a")},
		"last matches":   {lines: 5, pattern: regexp.MustCompile("a")},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		blocks := 0
		endless := made{read: func() {
			if blocks++; blocks == 3 {
				cancel(errQueryTimeout)
			}
		}}
		if err := printLines(ctx, io.Discard, endless, 1<<50, &q); !errors.Is(err, errQueryTimeout) || blocks != 3 {
			t.Errorf("%s: %v after %d blocks", name, err, blocks)
		}
	}
}

// Nothing more is read for a client that has left.
func TestNodeLogs_clientHasLeft(t *testing.T) {
	t.Parallel()
	l := &NodeLogs{Dir: t.TempDir()}
	must(t, os.WriteFile(filepath.Join(l.Dir, "btmp"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(l.Dir, "btmp"), 64<<20))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, query := range []string{"query=/btmp", "query=btmp", "query=/btmp&tailLines=1", "query=btmp&pattern=x"} {
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/logs/?"+query, http.NoBody)
		w := httptest.NewRecorder()
		l.answer(w, req, req.URL.Query())
		if w.Body.Len() > 100 || !strings.Contains(w.Body.String(), "btmp: context canceled") {
			t.Errorf("%s: %d bytes, %.100q", query, w.Body.Len(), w.Body)
		}
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
