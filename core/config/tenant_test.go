package config

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tenantA = "[[tenant]]\nname = \"a\"\nnamespaces = [\"a\", \"tenant-a-*\"]\n"

func TestTenantsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"one without name and namespaces": {
			"[[tenant]]\n" + source,
			"agent.toml:1: tenant.name: missing; sources name their tenant by it, for example name = \"a\"\n" +
				"agent.toml:1: tenant.namespaces: missing; name those of the tenant, for example namespaces = [\"tenant-a-*\"]\n",
		},
		"two of one name": {
			tenantA + "[[tenant]]\nname = \"a\"\nnamespaces = [\"b\"]\n" + source,
			"agent.toml:5: tenant.name: \"a\" is the name of another tenant; give each its own\n",
		},
		"a name that is no DNS label": {
			"[[tenant]]\nname = \"A\"\nnamespaces = [\"b\"]\n" + source,
			`agent.toml:2: tenant.name: "A" is no DNS label: `,
		},
		"an empty list of namespaces": {
			"[[tenant]]\nname = \"a\"\nnamespaces = []\n" + source,
			"agent.toml:3: tenant.namespaces: missing; name those of the tenant, for example namespaces = [\"tenant-a-*\"]\n",
		},
		"a pattern that no namespace matches": {
			"[[tenant]]\nname = \"a\"\nnamespaces = [\"b?\"]\n" + source,
			"agent.toml:3: tenant.namespaces: want a namespace such as \"web\", or a pattern such as \"tenant-a-*\", found \"b?\"\n",
		},
		"no pattern": {
			"[[tenant]]\nname = \"a\"\nnamespaces = [\"\"]\n" + source,
			"agent.toml:3: tenant.namespaces: want a namespace such as \"web\", or a pattern such as \"tenant-a-*\", found \"\"\n",
		},
		"a namespace that is named twice": {
			"[[tenant]]\nname = \"a\"\nnamespaces = [\"b\", \"b\"]\n" + source,
			"agent.toml:3: tenant.namespaces: \"b\" is named twice\n",
		},
		"a namespace of two tenants": {
			tenantA + "[[tenant]]\nname = \"b\"\nnamespaces = [\"b\", \"tenant-a-*\"]\n" + source,
			"agent.toml:6: tenant.namespaces: \"tenant-a-*\" and \"tenant-a-*\" of tenant \"a\" match the same namespaces; no two tenants may share one\n",
		},
		"patterns of two tenants that some namespace matches": {
			tenantA + "[[tenant]]\nname = \"b\"\nnamespaces = [\"*-b\"]\n" + source,
			"agent.toml:6: tenant.namespaces: \"*-b\" and \"tenant-a-*\" of tenant \"a\" match the same namespaces; no two tenants may share one\n",
		},
		"a budget for nothing": {
			tenantA + "fuel_per_second = 1000\n" + source, "agent.toml:4: tenant.fuel_per_second: want 1000000 to 1000000000000, found 1000\n",
		},
		"compiling that never ends": {
			tenantA + "compile_per_hour = \"61m\"\n" + source, "agent.toml:4: tenant.compile_per_hour: want 1s to 1h0m0s, found 1h1m0s\n",
		},
		"no log at all": {
			tenantA + "log_bytes_per_second = 0\n" + source, "agent.toml:4: tenant.log_bytes_per_second: want 64 to 16777216, found 0\n",
		},
		"memory for no plugin": {
			tenantA + "policy_memory = 65536\n" + source, "agent.toml:4: tenant.policy_memory: want 4194304 to 1099511627776 bytes, found 65536\n",
		},
		"records that take nothing": {
			tenantA + "record_bytes = 1000\n" + source, "agent.toml:4: tenant.record_bytes: want 1048576 to 17179869184 bytes, found 1000\n",
		},
		"the operator's name": {
			"[[tenant]]\nname = \"operator\"\nnamespaces = [\"b\"]\n" + source,
			"agent.toml:2: tenant.name: \"operator\" stands for who owns the node; choose another name\n",
		},
		"policies among those of the operator": {
			"[policy]\ndir = \"/p\"\n" + tenantA + "policy_dir = \"/p/a\"\n" + source,
			"agent.toml:6: tenant.policy_dir: /p/a and /p (policy.dir) lie in each other; the policies of each owner need a directory of their own\n",
		},
		"policies in the agent's own directory": {
			tenantA + "policy_dir = \"/var/lib/wardlet/state/a\"\n" + source,
			"agent.toml:4: tenant.policy_dir: /var/lib/wardlet/state/a lies in paths.state_root (/var/lib/wardlet/state), which is the agent's own\n",
		},
		"two with one directory of policies": {
			tenantA + "policy_dir = \"/a\"\n[[tenant]]\nname = \"b\"\nnamespaces = [\"b\"]\npolicy_dir = \"/a\"\n" + source,
			"agent.toml:8: tenant.policy_dir: /a and /a (tenant[0].policy_dir) lie in each other; the policies of each owner need a directory of their own\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, test.text, test.want)
		})
	}
}

func TestPoliciesOfATenantLieBesideTheConfiguration(t *testing.T) {
	t.Parallel()
	path := write(t, tenantA+"policy_dir = \"tenants/a\"\n"+source)
	c, err := load(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Tenants[0].PolicyDir, filepath.Join(filepath.Dir(path), "tenants/a"); got != want {
		t.Errorf("directory %q, want %q", got, want)
	}
}

func TestNamespacesOfASource(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, tenantA+source+"tenant = \"a\"\n"+server), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	got := [][]string{c.Namespaces(&c.Sources[0]), c.Namespaces(&c.Sources[1])}
	want := [][]string{{"a", "tenant-a-*"}, nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

func TestPatternsMeetWhereSomeNameMatchesBoth(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "ab", false},
		{"*", "a", true},
		{"*", "*", true},
		{"a*", "b*", false},
		{"a*", "*b", true},
		{"a-*", "a", false},
		{"a*", "a", true},
		{"a-*", "a-b-*", true},
		{"*a*", "*b*", true},
		{"a*c", "ab", false},
		{"a*c", "abc", true},
		{"a*b*c", "axbyc", true},
		{"a*b*c", "acb", false},
		{"**", "", true},
	} {
		if got := meet(test.a, test.b); got != test.want {
			t.Errorf("%q and %q meet: %v, want %v", test.a, test.b, got, test.want)
		}
		if got := meet(test.b, test.a); got != test.want {
			t.Errorf("%q and %q meet: %v, want %v", test.b, test.a, got, test.want)
		}
	}
}
