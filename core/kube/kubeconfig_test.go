package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fullKubeconfig = `apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: c, user: u}
clusters:
- name: c
  cluster: {server: "https://192.0.2.1:6443", certificate-authority: pki/ca.crt, tls-server-name: kubernetes}
users:
- name: u
  user: {client-certificate: /etc/node.crt, client-key: /etc/node.key, tokenFile: token}
`

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full := Config{Server: "https://192.0.2.1:6443", ServerName: "kubernetes", Credentials: Credentials{
		CA: Material{File: filepath.Join(dir, "pki/ca.crt")}, Token: Material{File: filepath.Join(dir, "token")},
		Cert: Material{File: "/etc/node.crt"}, Key: Material{File: "/etc/node.key"},
	}}
	inline := full
	inline.Credentials.CA = Material{Data: "PEM"}
	both := full // client-go reads the file, which may be renewed
	anonymous := full
	anonymous.Credentials = Credentials{CA: full.Credentials.CA}
	tests := map[string]struct {
		old, new string
		want     Config
		err      string
	}{
		"all of it":          {want: full},
		"a user is optional": {old: "cluster: c, user: u", new: "cluster: c", want: anonymous},
		"within the file":    {old: "certificate-authority: pki/ca.crt", new: "certificate-authority-data: UEVN", want: inline},
		"a token of both":    {old: "tokenFile: token", new: "tokenFile: token, token: secret", want: both},
		"no context":         {old: "current-context: here", new: "", err: "current-context is missing"},
		"unknown context":    {old: "current-context: here", new: "current-context: there", err: `no context is named "there"; there are: here`},
		"unknown cluster":    {old: "cluster: c,", new: "cluster: d,", err: `no cluster is named "d"; there are: c`},
		"unknown user":       {old: "user: u}", new: "user: v}", err: `no user is named "v"; there are: u`},
		"a program":          {old: "tokenFile: token", new: "exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token}", err: "not supported: exec of the user"},
		"a password":         {old: "tokenFile: token", new: "username: me, password: secret", err: "not supported: username and password"},
		"somebody else":      {old: "tokenFile: token", new: "as: admin", err: "not supported: as of the user"},
		"nobody checks":      {old: "tls-server-name: kubernetes", new: "insecure-skip-tls-verify: true", err: "not supported: insecure-skip-tls-verify"},
		"a proxy":            {old: "tls-server-name: kubernetes", new: `proxy-url: "http://192.0.2.9"`, err: "not supported: proxy-url"},
		"no YAML":            {old: "apiVersion: v1", new: "apiVersion: {", err: "yaml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if err := os.WriteFile(path, []byte(strings.Replace(fullKubeconfig, test.old, test.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Load(path)
			switch {
			case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), path)):
				t.Errorf("got %v, want %q with the path", err, test.err)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("shows the password: %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoad_missingFile(t *testing.T) {
	t.Parallel()
	if _, err := Load("/nowhere/kubeconfig"); err == nil || !strings.Contains(err.Error(), "/nowhere/kubeconfig") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
