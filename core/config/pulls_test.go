package config

import (
	"path/filepath"
	"testing"
	"time"
)

func TestPulls(t *testing.T) {
	t.Parallel()
	file := write(t, source+`[runtime]
parallel_pulls = 1
pull_progress_timeout = "2m"
offline_pull = "never"
prepull = ["registry.example/app:1"]
registry_config = "config.json"
credential_provider_config = "/etc/providers.yaml"
credential_provider_bin_dir = "bin"
`)
	c, err := load(file, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	r, dir := c.Runtime, filepath.Dir(file)
	if r.ParallelPulls != 1 || r.PullProgressTimeout != 2*time.Minute || r.OfflinePull != OfflineNever || len(r.Prepull) != 1 {
		t.Errorf("runtime %+v", r)
	}
	if r.RegistryConfig != filepath.Join(dir, "config.json") || r.CredentialProviderConfig != "/etc/providers.yaml" || r.CredentialProviderBinDir != filepath.Join(dir, "bin") {
		t.Errorf("paths of runtime %+v", r)
	}
}

func TestPulls_thatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ key, want string }{
		"none at a time":           {`parallel_pulls = 0`, `runtime.parallel_pulls: want 1 to 64, found 0`},
		"too many at a time":       {`parallel_pulls = 65`, `runtime.parallel_pulls: want 1 to 64, found 65`},
		"a deadline that is short": {`pull_progress_timeout = "9s"`, `runtime.pull_progress_timeout: want 10s or more, found 9s`},
		"another word":             {`offline_pull = "always"`, `runtime.offline_pull: want "fallback" or "never", found "always"`},
		"an image without a name":  {`prepull = [""]`, `runtime.prepull: want the name of an image`},
		"an image named twice":     {`prepull = ["a", "b", "a"]`, `runtime.prepull: "a" is named twice`},
		"providers without a directory": {
			`credential_provider_config = "/etc/p.yaml"`,
			`runtime.credential_provider_config: needs runtime.credential_provider_bin_dir, where the programs of the providers lie`,
		},
		"a directory without providers": {
			`credential_provider_bin_dir = "/usr/lib/p"`,
			`runtime.credential_provider_bin_dir: needs runtime.credential_provider_config, which names the programs there`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, source+"[runtime]\n"+test.key+"\n", "agent.toml:6: "+test.want)
		})
	}
}
