package preflight

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/test/site"
)

func TestCheckSource(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(site.GoodPod, "web", "db")
	for name, test := range map[string]struct {
		files  map[string]string
		change func(*testing.T, *config.Source)
		want   string
	}{
		"good manifests": {
			files: map[string]string{"a.yaml": site.GoodPod + "---\n" + other, "b.txt": "no manifest"},
			want:  `ok source static: 2 manifests, 0 bad; 1 file is ignored, as only names that end in .yaml, .yml or .json are read: "b.txt"`,
		},
		"manifests whose endings are in upper case, and directories": {
			files: map[string]string{"WEB.YAML": site.GoodPod, "more/a.yaml": site.GoodPod, ".hidden/b.yaml": site.GoodPod, ".c.yaml": site.GoodPod},
			want: "ok source static: 0 manifests, 0 bad; 1 file is ignored, as only names that end in .yaml, .yml or .json are read: \"WEB.YAML\"; " +
				"1 directory is ignored: what lies deeper is not read",
		},
		"one manifest": {
			files:  map[string]string{"a.yaml": site.GoodPod},
			change: func(_ *testing.T, s *config.Source) { s.Path += "/a.yaml" },
			want:   "ok source static: 1 manifest, 0 bad",
		},
		"no manifest": {
			change: func(t *testing.T, s *config.Source) {
				t.Helper()
				if err := os.Mkdir(s.Path, 0o700); err != nil {
					t.Fatal(err)
				}
			},
			want: "ok source static: 0 manifests, 0 bad",
		},
		"bad ones are named with file and line": {
			files: map[string]string{"a.yaml": site.GoodPod, "b.yaml": strings.ReplaceAll(other, "image:", "imgae:"), "c.yaml": "a: [\n"},
			want: "fail source static: 3 manifests, 2 bad\n" +
				"DIR/static/b.yaml:4: spec.containers[0].imgae: unknown field; did you mean image?\n" +
				"DIR/static/c.yaml:1: did not find expected node content",
		},
		"each fault of one has a line": {
			files: map[string]string{"a.yaml": strings.ReplaceAll(site.GoodPod, "spec: {", "spec: {x: 1,\n  z: 2,\n  "), "b.yaml": strings.ReplaceAll(other, "image:", "imgae:")},
			want: "fail source static: 2 manifests, 2 bad\n" +
				"DIR/static/a.yaml:4: spec.x: unknown field\n" +
				"DIR/static/a.yaml:5: spec.z: unknown field\n" +
				"DIR/static/b.yaml:4: spec.containers[0].imgae: unknown field; did you mean image?",
		},
		"a file that holds for a reason of its own is one": {
			files: map[string]string{"a.yaml": ""},
			want:  "fail source static: 1 manifest, 1 bad\nDIR/static/a.yaml: the manifest is empty; remove it to end its pods",
		},
		"of two of one name the second does not run": {
			files: map[string]string{"a.yaml": site.GoodPod, "b.yaml": site.GoodPod},
			want: "fail source static: 2 manifests, 1 bad\n" +
				"DIR/static/b.yaml#0: default/web-edge is already defined by DIR/static/a.yaml#0; remove or rename one of them",
		},
		"a manifest outside its tenant's namespaces": {
			files:  map[string]string{"a.yaml": site.GoodPod},
			change: func(_ *testing.T, s *config.Source) { s.Tenant = "a" },
			want: "fail source static: 1 manifest, 1 bad\nDIR/static/a.yaml:3: metadata.namespace: Forbidden: " +
				"\"default\" is outside the namespaces of the tenant this source belongs to: tenant-a-*",
		},
		"a path that is missing": {
			want: "fail source static: list manifests: stat DIR/static: no such file or directory; create it, or set missing_path = \"empty\"",
		},
		"a path that may be missing": {
			change: func(_ *testing.T, s *config.Source) { s.MissingPath = config.MissingEmpty },
			want:   "ok source static: 0 manifests, 0 bad",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			s := n.Source(t, "static", test.files)
			n.Cfg.Tenants = []config.Tenant{{Name: "a", Namespaces: []string{"tenant-a-*"}}}
			if test.change != nil {
				test.change(t, s)
			}
			n.expect(t, []Finding{checkSource(t.Context(), n.Cfg, s, "edge", DefaultCheckTimeout)}, test.want)
		})
	}
}

func TestCheckSourceOfAServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		change func(*config.Source)
		want   string
	}{
		"a manifest": {
			answer: text(site.GoodPod),
			want:   "ok source fleet: 1 manifest, 0 bad",
		},
		"no pods": {
			answer: text(`{"apiVersion":"v1","kind":"PodList","items":[]}`),
			want:   "ok source fleet: 0 manifests, 0 bad",
		},
		"a bad manifest beside a good one": {
			answer: text(site.GoodPod + "---\n" + strings.ReplaceAll(strings.ReplaceAll(site.GoodPod, "web", "db"), "image:", "imgae:")),
			want: "fail source fleet: 2 manifests, 1 bad\n" +
				"URL:9: spec.containers[0].imgae: unknown field; did you mean image?",
		},
		"bad manifests only": {
			answer: text(strings.ReplaceAll(site.GoodPod, "image:", "imgae:")),
			want:   "fail source fleet: 1 manifest, 1 bad\nURL:4: spec.containers[0].imgae: unknown field; did you mean image?",
		},
		"no manifest": {
			answer: text("<html>"),
			want: "fail source fleet: URL: the answer is a web page and no manifest; " +
				"is there a proxy or a login page (captive portal) on the way to the server?",
		},
		"headers that are missing": {
			change: func(s *config.Source) { s.HeaderFile = "/nowhere/headers" },
			want:   "fail source fleet: URL was not asked: header_file: open /nowhere/headers: no such file or directory",
		},
		"no answer in time": {
			answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			change: func(s *config.Source) { s.Timeout = 100 * time.Millisecond },
			want:   "fail source fleet: URL: no whole answer within 100ms; raise timeout if the server needs longer",
		},
		"a tenant's": {
			answer: text(site.GoodPod),
			change: func(s *config.Source) { s.Tenant = "a" },
			want: "fail source fleet: 1 manifest, 1 bad\nURL:3: metadata.namespace: Forbidden: " +
				"\"default\" is outside the namespaces of the tenant this source belongs to: tenant-a-*",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(test.answer)
			t.Cleanup(srv.Close)
			n := newSite(t)
			n.Cfg.Tenants = []config.Tenant{{Name: "a", Namespaces: []string{"tenant-a-*"}}}
			s := &config.Source{Name: "fleet", Kind: config.KindHTTP, URL: srv.URL, Timeout: config.DefaultTimeout}
			if test.change != nil {
				test.change(s)
			}
			got := checkSource(t.Context(), n.Cfg, s, "edge", DefaultCheckTimeout)
			got.Message = strings.ReplaceAll(got.Message, srv.URL, "URL")
			n.expect(t, []Finding{got}, test.want)
		})
	}
}

func TestCheckSourceOfAnAPIServer(t *testing.T) {
	t.Parallel()
	list := `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"1"},"items":[` +
		`{"metadata":{"name":"a","namespace":"default","uid":"u-a","resourceVersion":"1"},` +
		`"spec":{"nodeName":"edge","containers":[{"name":"c","image":"i"}]}}]}`
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"pods of this node": {
			func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("watch") != "" {
					<-r.Context().Done()
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(list))
			},
			"ok source api: 1 pod, 0 bad",
		},
		"a server that knows nobody": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
			"fail source api: API server URL: the server has asked for the client to provide credentials",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(test.answer)
			t.Cleanup(srv.Close)
			cfg := config.Default()
			cfg.Cluster.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
			kubeconfig := "current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: \"" + srv.URL + "\"}}]\n"
			if err := os.WriteFile(cfg.Cluster.Kubeconfig, []byte(kubeconfig), 0o600); err != nil {
				t.Fatal(err)
			}
			s := &config.Source{Name: config.NameAPI, Kind: config.KindAPI, Path: cfg.Cluster.Kubeconfig}
			found := checkSource(t.Context(), cfg, s, "edge", DefaultCheckTimeout)
			got := string(found.Level) + " " + found.Subject + ": " + strings.ReplaceAll(found.Message, srv.URL, "URL")
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("finding %q, want %q", got, test.want)
			}
		})
	}
}

func text(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}
