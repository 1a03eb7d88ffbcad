package config

import (
	"fmt"
	"strings"
	"testing"
)

const policyTable = source + "[policy]\n"

func TestClusterSet(t *testing.T) {
	t.Parallel()
	const key = "trusted_keys = [\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\"]\n"
	for name, test := range map[string]struct{ keys, want string }{
		"of no cluster": {
			"cluster_set = \"kube-system/policies\"\n" + key,
			"agent.toml:6: policy.cluster_set: is for a node of a cluster; name its kubeconfig in cluster.kubeconfig\n",
		},
		"that anybody may sign": {
			"cluster_set = \"kube-system/policies\"\n[cluster]\nkubeconfig = \"/k\"\n",
			"agent.toml:6: policy.cluster_set: name the keys that may sign it in policy.trusted_keys: everybody who may write the ConfigMap could decide about this node's pods\n",
		},
		"without a namespace": {
			"cluster_set = \"policies\"\n" + key + "[cluster]\nkubeconfig = \"/k\"\n",
			"agent.toml:6: policy.cluster_set: want a ConfigMap as NAMESPACE/NAME, found \"policies\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, policyTable+test.keys, test.want)
		})
	}
	for dir, want := range map[string]string{"": "/var/lib/wardlet/state/cluster-set/current", "dir = \"/etc/policies\"\n": "/etc/policies"} {
		c, err := load(write(t, policyTable+dir+"cluster_set = \"kube-system/policies\"\n"+key+"[cluster]\nkubeconfig = \"/k\"\n"), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		// A directory outranks the cluster.
		if fromCluster := dir == ""; c.Policy.Dir != want || c.Policy.RequireSignature != fromCluster || c.UsesClusterSet() != fromCluster {
			t.Errorf("with %q: %+v", dir, c.Policy)
		}
	}
}

func TestTheSizeOfPluginsIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ keys, want string }{
		"that holds no plugin": {
			"module_bytes = 65_535\ncode_bytes = 65_536\n",
			"agent.toml:6: policy.module_bytes: want 65536 to 6291456 bytes, found 65535\n",
		},
		"that was meant in MiB": {
			"module_bytes = 4\ncode_bytes = 3\n",
			"agent.toml:6: policy.module_bytes: want 65536 to 6291456 bytes, found 4\n" +
				"agent.toml:7: policy.code_bytes: want 65536 to 6291456 bytes, found 3\n",
		},
		"that is negative": {
			"code_bytes = -1\n",
			"agent.toml:6: policy.code_bytes: want 65536 to 6291456 bytes, found -1\n",
		},
		"above what the compiler takes": {
			"module_bytes = 6_291_457\n",
			"agent.toml:6: policy.module_bytes: want 65536 to 6291456 bytes, found 6291457\n",
		},
		"of code above what the compiler takes": {
			"module_bytes = 6_291_456\ncode_bytes = 6_291_457\n",
			"agent.toml:7: policy.code_bytes: want 65536 to 6291456 bytes, found 6291457\n",
		},
		"with more code than a module may have": {
			"module_bytes = 4_194_304\ncode_bytes = 4_194_305\n",
			"agent.toml:7: policy.code_bytes: want at most policy.module_bytes, of which the code is a part: 4194304 bytes, found 4194305\n",
		},
		"with less than the code has by default": {
			"module_bytes = 1_048_576\n",
			"agent.toml:5: policy.code_bytes: want at most policy.module_bytes, of which the code is a part: 1048576 bytes, found 3145728\n",
		},
		"with a unit": {
			"module_bytes = \"4MiB\"\n",
			`agent.toml:6: policy.module_bytes: want an integer, found the string "4MiB"` + "\n",
		},
		"that is no whole number": {
			"code_bytes = 3e6\n",
			"agent.toml:6: policy.code_bytes: want an integer, found the number 3e+06\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, policyTable+test.keys, test.want)
		})
	}
}

func TestTheSizeOfPluginsMayBe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ module, code int }{
		"the least":              {minModuleBytes, minModuleBytes},
		"the greatest":           {MaxModuleBytes, MaxModuleBytes},
		"that of little code":    {MaxModuleBytes, minModuleBytes},
		"less than the defaults": {1 << 20, 700_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf("module_bytes = %d\ncode_bytes = %d\n", want.module, want.code)
			c, err := load(write(t, policyTable+text), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			if c.Policy.ModuleBytes != want.module || c.Policy.CodeBytes != want.code {
				t.Errorf("%s became %+v", strings.ReplaceAll(text, "\n", " "), c.Policy)
			}
		})
	}
}

func TestADefaultVerdictThatNothingWouldGiveIsRefused(t *testing.T) {
	t.Parallel()
	for _, verdict := range []string{VerdictDeny, VerdictHold} {
		refuses(t, policyTable+"default_verdict = \""+verdict+"\"\n",
			"agent.toml:6: policy.default_verdict: \""+verdict+"\" counts only where there are policies, and without a directory of them every pod is admitted: "+
				"name one as policy.dir, or as policy_dir of a tenant\n")
	}
	for _, text := range []string{
		policyTable + "default_verdict = \"allow\"\n",
		policyTable + "default_verdict = \"deny\"\ndir = \"/policies\"\n",
		tenantA + "policy_dir = \"/policies\"\n" + source + "[policy]\ndefault_verdict = \"hold\"\n",
	} {
		if _, err := load(write(t, text), noEnv); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestExemptPodsAreNamedWithTheirNamespace(t *testing.T) {
	t.Parallel()
	refuses(t, policyTable+"exempt = [\"kube-system/dns\", \"dns\", \"a/b/c\", \"A/dns\"]\n",
		`agent.toml:6: policy.exempt: want NAMESPACE/NAME of a pod, for example "kube-system/dns", found "dns"`+"\n"+
			`agent.toml:6: policy.exempt: want NAMESPACE/NAME of a pod, for example "kube-system/dns", found "a/b/c"`+"\n"+
			`agent.toml:6: policy.exempt: want NAMESPACE/NAME of a pod, for example "kube-system/dns", found "A/dns"`+"\n")
	c, err := load(write(t, policyTable+"exempt = [\"kube-system/dns\"]\n"), noEnv)
	if err != nil || len(c.Policy.Exempt) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestASignatureThatIsRequiredNeedsAKey(t *testing.T) {
	t.Parallel()
	refuses(t, policyTable+"require_signature = true\n",
		"agent.toml:6: policy.require_signature: no signature can be good without trusted_keys; name the public keys that may sign the policies\n")
	refuses(t, tenantA+"require_signature = true\ntrusted_keys = [\n\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\",\n\"untrusted comment: x\"]\n"+source,
		"agent.toml:7: tenant.trusted_keys: want the line of a public key of minisign, which begins with \"RW\", found \"untrusted comment: x\"\n")
}
