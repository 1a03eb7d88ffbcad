package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
)

func TestCheckCredentials(t *testing.T) {
	t.Parallel()
	const provider = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- {name: ecr, matchImages: ["*.example"], defaultCacheDuration: 1m, apiVersion: credentialprovider.kubelet.k8s.io/v1}
- {name: gcr, matchImages: ["*.example"], defaultCacheDuration: 1m, apiVersion: credentialprovider.kubelet.k8s.io/v1}
`
	for name, tc := range map[string]struct {
		registry, providers string
		mode                os.FileMode
		programs            []string
		want                []string
	}{
		"none is named": {},
		"good": {
			registry: `{"auths": {"registry.example": {"auth": "YTpi"}}}`, providers: provider, mode: 0o600, programs: []string{"ecr", "gcr"},
			want: []string{"ok credentials of registries DIR/config.json: ", "ok credentials of registries DIR/providers.yaml: "},
		},
		"others may read": {
			registry: `{"auths": {}}`, mode: 0o644, want: []string{"warn credentials of registries DIR/config.json: others than its owner may read it; chmod 600 it"},
		},
		"broken": {
			registry: `{"auths": `, providers: "providers: 1\n", mode: 0o600, want: []string{
				"fail credentials of registries DIR/config.json: it is no registry configuration: no JSON at byte 10",
				"fail credentials of registries DIR/providers.yaml: it is no CredentialProviderConfig: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field providerConfig.providers of type []credential.provider",
			},
		},
		"not there": {registry: "-", want: []string{"fail credentials of registries DIR/config.json: no such file or directory"}},
		"no program": {
			providers: provider, mode: 0o600, programs: []string{"gcr"},
			want: []string{`fail credentials of registries DIR/providers.yaml: providers[0].name: DIR/bin/ecr: no such file or directory`},
		},
		"a directory instead of a program": {
			providers: provider, mode: 0o600, programs: []string{"ecr", "gcr/"},
			want: []string{`fail credentials of registries DIR/providers.yaml: providers[1].name: DIR/bin/gcr: it is no program`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(file, text string, mode os.FileMode) string {
				path := filepath.Join(dir, file)
				if text == "-" {
					return path
				}
				if err := os.WriteFile(path, []byte(text), mode); err != nil {
					t.Fatal(err)
				}
				return path
			}
			cfg := &config.Config{}
			if tc.registry != "" {
				cfg.Runtime.RegistryConfig = write("config.json", tc.registry, tc.mode)
			}
			if tc.providers != "" {
				cfg.Runtime.CredentialProviderConfig = write("providers.yaml", tc.providers, tc.mode)
				cfg.Runtime.CredentialProviderBinDir = filepath.Join(dir, "bin")
				if err := os.Mkdir(cfg.Runtime.CredentialProviderBinDir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, program := range tc.programs {
				if name, isDir := strings.CutSuffix(program, "/"); isDir {
					if err := os.Mkdir(filepath.Join(dir, "bin", name), 0o700); err != nil {
						t.Fatal(err)
					}
					continue
				}
				write("bin/"+program, "", 0o700)
			}
			var got []string
			for _, f := range checkCredentials(cfg) {
				got = append(got, strings.ReplaceAll(string(f.Level)+" "+f.Subject+": "+f.Message, dir, "DIR"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
