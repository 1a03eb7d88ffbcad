package preflight

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
)

func TestCheckObjects(t *testing.T) {
	t.Parallel()
	const (
		object    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
		generated = "ok key of Secrets on the disk DIR/state/objects.key: made by the agent, where its service has no credential wardlet.objects-key: it protects copies of the disk without it, not the disk"
	)
	for name, tc := range map[string]struct {
		mode os.FileMode
		file string
		// key is the content of the key file, empty for no file. member is true for a node of a
		// cluster.
		key    string
		member bool
		want   []string
	}{
		"none is named":     {},
		"node of a cluster": {member: true, want: []string{generated}},
		"good":              {mode: 0o700, file: object, want: []string{"ok objects DIR/objects: 1 object, 0 bad", generated}},
		"bad": {mode: 0o700, file: object + "data: {a: 5}\n---\n" + object + "---\n" + object, key: strings.Repeat("k", 32), want: []string{
			"fail objects DIR/objects: 3 objects, 2 bad\nDIR/objects/a.yaml:4: data[a]: expected a string, got a number; put it in quotes\n" +
				"DIR/objects/a.yaml#2: ConfigMap default/a is already defined by DIR/objects/a.yaml#1; remove or rename one of them", "ok key of Secrets on the disk DIR/key: ",
		}},
		"others may read": {mode: 0o750, file: object, key: "short", want: []string{
			"fail objects DIR/objects: list manifests: DIR/objects has mode 0750: others than its owner may read it; run chmod 700 on it",
			"fail key of Secrets on the disk DIR/key: it has 5 bytes; a key file has 32 to 4096 random bytes",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cfg := config.Default()
			cfg.Paths.StateRoot = filepath.Join(dir, "state")
			if tc.member {
				cfg.Cluster.Kubeconfig = filepath.Join(dir, "kubeconfig")
			}
			if tc.mode != 0 {
				cfg.Objects.Dir = filepath.Join(dir, "objects")
				if err := errors.Join(os.Mkdir(cfg.Objects.Dir, tc.mode), os.WriteFile(filepath.Join(cfg.Objects.Dir, "a.yaml"), []byte(tc.file), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.key != "" {
				cfg.Objects.KeyFile = filepath.Join(dir, "key")
				if err := os.WriteFile(cfg.Objects.KeyFile, []byte(tc.key), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, f := range checkObjects(t.Context(), cfg, 10*time.Second) {
				got = append(got, strings.ReplaceAll(string(f.Level)+" "+f.Subject+": "+f.Message, dir, "DIR"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
