package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	server = "[[source]]\nname = \"fleet\"\nkind = \"http\"\nurl = \"https://fleet.example/a.yaml\"\n"
	api    = "[[source]]\nname = \"api\"\nkind = \"api\"\nurl = \"https://10.0.0.1:6443\"\n"
	// member is the table that replaces api.
	member = "[cluster]\nkubeconfig = \"/etc/wardlet/kubeconfig\"\n"
)

// with returns a source in which line 4 is replaced.
func with(source, line string) string {
	lines := strings.SplitAfter(source, "\n")
	lines[3] = line + "\n"
	return strings.Join(lines, "")
}

func TestSourcesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"one without name and kind": {
			"[[source]]\n",
			"agent.toml:1: source.name: missing; it marks the pods of this source, for example name = \"static\"\n" +
				"agent.toml:1: source.kind: missing; want \"file\" or \"http\"\n",
		},
		"two of one name": {
			source + "\n" + source,
			`agent.toml:7: source.name: "static" is the name of another source; give each its own`,
		},
		"a name that is no DNS label": {
			strings.Replace(source, "static", "a.b", 1),
			`agent.toml:2: source.name: "a.b" is no DNS label: `,
		},
		"the API server's name for files": {
			strings.Replace(source, "static", "api", 1),
			`agent.toml:2: source.name: "api" is kept for the API server; give this source another name`,
		},
		"the API server's name for a URL": {
			strings.Replace(server, "fleet", "api", 1),
			`agent.toml:2: source.name: "api" is kept for the API server; give this source another name`,
		},
		"a kind that never was": {
			strings.Replace(source, `"file"`, `"ftp"`, 1),
			"agent.toml:3: source.kind: want \"file\" or \"http\", found \"ftp\"\n",
		},
		"another meaning of a missing path": {
			source + "missing_path = \"ignore\"\n",
			`agent.toml:5: source.missing_path: want "error" or "empty", found "ignore"`,
		},

		"files without a path": {
			with(source, ""),
			"agent.toml:1: source.path: missing; name a manifest or a directory of manifests\n",
		},
		"a server without a URL": {
			with(server, ""),
			"agent.toml:1: source.url: missing; name where the manifest is, for example url = \"https://fleet.example/node.yaml\"\n",
		},

		"keys of other kinds, for files": {
			source + "url = \"https://h\"\ntimeout = \"1s\"\nheader_file = \"h\"\nca_file = \"c\"\nclient_cert_file = \"c\"\n" +
				"client_key_file = \"k\"\ntoken_file = \"t\"\nexperimental = true\n",
			"agent.toml:5: source.url: key url is for sources of kind \"http\"\n" +
				"agent.toml:6: source.timeout: key timeout is for sources of kind \"http\"\n" +
				"agent.toml:7: source.header_file: key header_file is for sources of kind \"http\"\n" +
				"agent.toml:8: source.ca_file: key ca_file is for sources of kind \"http\"\n" +
				"agent.toml:9: source.client_cert_file: key client_cert_file is for sources of kind \"http\"\n" +
				"agent.toml:10: source.client_key_file: key client_key_file is for sources of kind \"http\"\n" +
				"agent.toml:11: source.token_file: unknown key; it was one of an API server's source, which [cluster] replaces\n" +
				"agent.toml:12: source.experimental: unknown key; it was one of an API server's source, which [cluster] replaces\n",
		},
		"keys of other kinds, for a server": {
			server + "path = \"/m\"\nmissing_path = \"error\"\ntoken_file = \"t\"\nexperimental = true\n",
			"agent.toml:5: source.path: key path is for sources of kind \"file\"\n" +
				"agent.toml:6: source.missing_path: key missing_path is for sources of kind \"file\"\n" +
				"agent.toml:7: source.token_file: unknown key; it was one of an API server's source, which [cluster] replaces\n" +
				"agent.toml:8: source.experimental: unknown key; it was one of an API server's source, which [cluster] replaces\n",
		},

		"a listing without end": {
			source + "period = \"0s\"\n",
			"agent.toml:5: source.period: want at least 1s, found 0s\n",
		},
		"a server that is asked without end": {
			server + "period = \"999ms\"\n",
			"agent.toml:5: source.period: want at least 1s, found 999ms\n",
		},
		"a server that has no time to answer": {
			server + "timeout = \"0s\"\n",
			"agent.toml:5: source.timeout: want more than 0s, found 0s\n",
		},
		"half a client certificate": {
			server + "client_cert_file = \"cert\"\n",
			"agent.toml:1: source.client_key_file: missing; client_cert_file needs it\n",
		},
		"the other half": {
			server + "client_key_file = \"key\"\n",
			"agent.toml:1: source.client_cert_file: missing; client_key_file needs it\n",
		},
		"certificates for a connection without": {
			with(server, `url = "http://fleet.example"`) + "ca_file = \"ca\"\nclient_cert_file = \"cert\"\nclient_key_file = \"key\"\n",
			"agent.toml:5: source.ca_file: is for https, and url is http://fleet.example\n" +
				"agent.toml:6: source.client_cert_file: is for https, and url is http://fleet.example\n" +
				"agent.toml:7: source.client_key_file: is for https, and url is http://fleet.example\n",
		},
		"an API server, with what replaces it": {
			api + "token_file = \"/t\"\nca_file = \"/ca\"\nexperimental = true\n",
			"agent.toml:3: source.kind: the pods of an API server come with [cluster]; replace this source by\n" + member +
				"and write to that file:\napiVersion: v1\nkind: Config\ncurrent-context: node\n" +
				"contexts: [{name: node, context: {cluster: node, user: node}}]\n" +
				"clusters: [{name: node, cluster: {server: \"https://10.0.0.1:6443\", certificate-authority: \"/ca\"}}]\n" +
				"users: [{name: node, user: {tokenFile: \"/t\"}}]\n",
		},
		"a tenant that nobody knows": {
			source + "tenant = \"b\"\n[[tenant]]\nname = \"a\"\nnamespaces = [\"a\"]\n",
			"agent.toml:5: source.tenant: no [[tenant]] is named \"b\"; add one with its namespaces\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://user:secret@h/a":   `holds a user or password, which would be shown in logs; send them with header_file, as a line "Authorization: Basic ..."`,
		"user:secret@h/a":          `want a URL that begins with https:// or http://`,
		"https://h/%zz":            `is no URL: invalid URL escape "%zz"`,
		"ftp://h/a":                `want a URL that begins with https:// or http://`,
		"file:///etc/passwd":       `want a URL that begins with https:// or http://`,
		"fleet.example/a.yaml":     `want a URL that begins with https:// or http://`,
		"https:///a.yaml":          `"https:///a.yaml" names no host`,
		"https://:443/a.yaml":      `"https://:443/a.yaml" names no host`,
		"https:fleet.example":      `"https:fleet.example" names no host`,
		"https://h/a.yaml#0":       `"https://h/a.yaml#0" has a fragment, which no server gets to see; remove all from the #`,
		"https://h/a.yaml#":        `"https://h/a.yaml#" has a fragment, which no server gets to see; remove all from the #`,
		"https://h:0/a.yaml":       `"https://h:0/a.yaml" has no port between 1 and 65535`,
		"https://h:65536/a.yaml":   `"https://h:65536/a.yaml" has no port between 1 and 65535`,
		"https://h/a\\u0000b.yaml": `is no URL: net/url: invalid control character in URL`,
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			refuses(t, with(server, `url = "`+url+`"`), "agent.toml:4: source.url: "+want+"\n")
		})
	}
}

func TestSourcesThatAreTaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want Source
	}{
		"files": {
			source + "period = \"1s\"\nmissing_path = \"empty\"\n",
			Source{Name: "static", Kind: KindFile, Path: "/etc/wardlet/manifests", Period: time.Second, MissingPath: MissingEmpty},
		},
		"files, with defaults": {
			source,
			Source{Name: "static", Kind: KindFile, Path: "/etc/wardlet/manifests", Period: 20 * time.Second, MissingPath: MissingError},
		},
		"a server, with defaults": {
			server,
			Source{Name: "fleet", Kind: KindHTTP, URL: "https://fleet.example/a.yaml", Period: 20 * time.Second, Timeout: 10 * time.Second},
		},
		"a server, with all there is": {
			server + "period = \"1s\"\ntimeout = \"1m\"\nheader_file = \"/h\"\nca_file = \"/ca\"\nclient_cert_file = \"/cert\"\nclient_key_file = \"/key\"\n" +
				"tenant = \"a\"\n[[tenant]]\nname = \"a\"\nnamespaces = [\"a\"]\n",
			Source{
				Name: "fleet", Kind: KindHTTP, URL: "https://fleet.example/a.yaml", Period: time.Second, Timeout: time.Minute,
				HeaderFile: "/h", CAFile: "/ca", ClientCertFile: "/cert", ClientKeyFile: "/key", Tenant: "a",
			},
		},
		"a server without encryption, with headers": {
			with(server, `url = "http://[::1]:80/a?b=c"`) + "header_file = \"/h\"\n",
			Source{Name: "fleet", Kind: KindHTTP, URL: "http://[::1]:80/a?b=c", Period: 20 * time.Second, Timeout: 10 * time.Second, HeaderFile: "/h"},
		},
		"an API server": {
			member,
			Source{Name: "api", Kind: KindAPI, Path: "/etc/wardlet/kubeconfig"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(write(t, test.text), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Source{test.want}, c.Sources); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLocationOfASource(t *testing.T) {
	t.Parallel()
	for _, s := range []Source{
		{Kind: KindFile, Path: "here"}, {Kind: KindHTTP, URL: "here"}, {Kind: KindAPI, Path: "here"},
	} {
		if got := s.Location(); got != "here" {
			t.Errorf("%s: %q", s.Kind, got)
		}
	}
}
