package http

import (
	"bufio"
	"bytes"
	"maps"
	nethttp "net/http"
	"strings"
	"testing"
)

func TestHeaderFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want nethttp.Header
		err  string
	}{
		"none":                            {"", nil, ""},
		"one":                             {"X-Token: abc", nethttp.Header{"X-Token": {"abc"}}, ""},
		"several of one name, in order":   {"X-A: 1\nX-B: 2\nx-a: 3\n", nethttp.Header{"X-A": {"1", "3"}, "X-B": {"2"}}, ""},
		"colons in a value":               {"Authorization: Basic YTpi:\n", nethttp.Header{"Authorization": {"Basic YTpi:"}}, ""},
		"white space around":              {"\t X-A:\t 1 2 \r\n", nethttp.Header{"X-A": {"1 2"}}, ""},
		"an empty value":                  {"X-A:\n", nethttp.Header{"X-A": {""}}, ""},
		"comments and empty lines":        {"\n# X-B: 2\n  # more\nX-A: 1\n\n", nethttp.Header{"X-A": {"1"}}, ""},
		"another program's name":          {"User-Agent: fleet\n", nethttp.Header{"User-Agent": {"fleet"}}, ""},
		"odd characters of a name":        {"x_a!b: 1\n", nethttp.Header{"X_a!b": {"1"}}, ""},
		"text beyond ASCII in a value":    {"X-A: é\n", nethttp.Header{"X-A": {"é"}}, ""},
		"no colon":                        {"X-A: 1\nsecret\n", nil, `F:2: want "Name: value", found no colon`},
		"no name":                         {": secret\n", nil, `F:1: want "Name: value" where the name has letters, digits and dashes only`},
		"a space in a name":               {"X A: secret\n", nil, `F:1: want "Name: value" where the name`},
		"a space behind a name":           {"X-A : secret\n", nil, `F:1: want "Name: value" where the name`},
		"text beyond ASCII in a name":     {"X-é: secret\n", nil, `F:1: want "Name: value" where the name`},
		"a control character in a value":  {"X-A: sec\x00ret\n", nil, "F:1: the value of X-A has a control character"},
		"a line break of old Macs":        {"X-A: 1\rX-B: 2\n", nil, "F:1: the value of X-A has a control character"},
		"the host":                        {"host: h\n", nil, "F:1: host cannot be set: the host is that of url"},
		"what would make half an answer":  {"Range: bytes=0-9\n", nil, "F:1: Range cannot be set: the whole answer is needed"},
		"what would make two requests":    {"Transfer-Encoding: chunked\n", nil, "F:1: Transfer-Encoding cannot be set: a request has no body"},
		"what is asked for as it is read": {"accept-encoding: br\n", nil, "F:1: accept-encoding cannot be set: compression is asked for as it can be read"},
		"what the agent asks itself":      {"If-None-Match: \"1\"\n", nil, "F:1: If-None-Match cannot be set: the agent asks whether the answer has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseHeaders("F", []byte(test.text))
			if err != nil {
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("the error shows a value: %v", err)
				}
				says(t, "error", err.Error(), test.err)
				return
			}
			same(t, "error", test.err, "")
			same(t, "headers", test.want, got)
		})
	}
}

// FuzzParseHeaders checks that a server is sent exactly the headers that a file sets.
func FuzzParseHeaders(f *testing.F) {
	for _, seed := range []string{
		"", "X-A: 1\nX-B: 2\nX-A: 3", "# none\n", "Authorization: Bearer a.b.c\r\n", "a:b:c\n:d\n", "Host: h\n", "X-A: 1\rX-B: 2\n",
		"X-A: a\x00b\n", "X-A: \tb\t\n", "\xff: \xff\n", "Cookie: a=b; c=d\nPragma: no-cache\n", "Content-Length: 5\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		headers, err := parseHeaders("F", data)
		if err != nil {
			return
		}
		req, err := nethttp.NewRequest(nethttp.MethodGet, "http://h/", nethttp.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(req.Header, headers)
		if headers.Get("User-Agent") == "" {
			req.Header.Set("User-Agent", "")
		}
		var sent bytes.Buffer
		if err := req.Write(&sent); err != nil {
			t.Fatalf("cannot be sent: %v", err)
		}
		got, err := nethttp.ReadRequest(bufio.NewReader(&sent))
		if err != nil {
			t.Fatalf("cannot be read: %v", err)
		}
		if headers.Get("Pragma") != "" {
			// ReadRequest adds Cache-Control for this header.
			delete(got.Header, "Cache-Control")
			delete(headers, "Cache-Control")
		}
		if len(headers["User-Agent"]) > 1 || headers.Get("User-Agent") == "" {
			delete(got.Header, "User-Agent")
			delete(headers, "User-Agent")
		}
		same(t, "headers", headers, got.Header)
		same(t, "host and path", "h/", got.Host+got.URL.Path)
	})
}
