package preflight

import (
	"io/fs"
	"os"
	"testing"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/test/site"
)

func TestCheckAccess(t *testing.T) {
	t.Parallel()
	const remedy = "; who can write there decides what this node does: let its owner be root or the agent's user, and chmod go-w it"
	const nobodyID = 65534
	for name, test := range map[string]struct {
		modes  map[string]fs.FileMode
		owned  []string // the paths that a user without a name owns
		change func(*config.Config)
		want   []string
	}{
		"as they should be": {},
		"a directory of mode 0777": {
			modes: map[string]fs.FileMode{"policies": 0o777},
			want:  []string{"warn policies DIR/policies: DIR/policies can be written by others (mode 0777)" + remedy},
		},
		"a document that is nobody's": {
			owned: []string{"policies/a.toml"},
			want:  []string{"warn policies DIR/policies: DIR/policies/a.toml belongs to user 65534" + remedy},
		},
		"several are one warning": {
			modes: map[string]fs.FileMode{"policies": 0o770, "policies/a.wasm": 0o666}, owned: []string{"policies/a.toml"},
			want: []string{"warn policies DIR/policies: DIR/policies can be written by others (mode 0770), and so 2 more" + remedy},
		},
		"manifests": {
			modes: map[string]fs.FileMode{"static/web.yaml": 0o646},
			want:  []string{"warn source static: DIR/static/web.yaml can be written by others (mode 0646)" + remedy},
		},
		"a tenant's are the tenant's": {
			owned:  []string{"policies/a.toml", "static"},
			modes:  map[string]fs.FileMode{"policies": 0o770, "static": 0o775},
			change: ofTenant,
		},
		"but not everybody's": {
			modes:  map[string]fs.FileMode{"policies": 0o777, "static": 0o777},
			change: ofTenant,
			want: []string{
				"warn policies DIR/policies of tenant a: DIR/policies can be written by others (mode 0777)" + remedy,
				"warn source static: DIR/static can be written by others (mode 0777)" + remedy,
			},
		},
		"policies that need a signature may lie anywhere": {
			modes:  map[string]fs.FileMode{"policies": 0o777},
			change: func(c *config.Config) { c.Policy.RequireSignature = true },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			n.Source(t, "static", map[string]string{"web.yaml": site.GoodPod})
			n.policy(t, "a", "")
			if test.change != nil {
				test.change(n.Cfg)
			}
			for path, mode := range test.modes {
				if err := os.Chmod(n.Path(path), mode); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range test.owned {
				if err := os.Chown(n.Path(path), nobodyID, nobodyID); err != nil {
					t.Fatal(err)
				}
			}
			n.expect(t, checkAccess(n.Cfg), append([]string{}, test.want...)...)
		})
	}
}

func ofTenant(c *config.Config) {
	c.Tenants = []config.Tenant{{Name: "a", PolicyDir: c.Policy.Dir}}
	c.Policy.Dir, c.Sources[0].Tenant = "", "a"
}
