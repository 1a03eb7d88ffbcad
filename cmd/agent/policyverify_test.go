package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// signedDirectory returns a directory with policyFiles, signed with minisign.key.
func signedDirectory(t *testing.T) string {
	t.Helper()
	dir := policyDirectory(t)
	if got := wardlet(t.Context(), "policy", "sign", dir, "--key", keyFile(t, "minisign.key")); !strings.HasSuffix(got, "--- exit status 0\n") {
		t.Fatal(got)
	}
	return dir
}

func TestPolicyVerify(t *testing.T) {
	t.Parallel()
	// instead returns a change that replaces a file.
	instead := func(name string, put func(path string) error) func(string) error {
		return func(dir string) error {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
			return put(filepath.Join(dir, name))
		}
	}
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	link := func(path string) error { return os.Symlink("/etc/hostname", path) }
	remove := func(names ...string) func(string) error {
		return func(dir string) error {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	other := keyFile(t, "other.pub")
	document := func(text string) string { return strings.Replace(policyFiles()["a.toml"], "name = \"a\"", text, 1) }
	for name, test := range map[string]struct {
		files  map[string]string
		change func(dir string) error
		keys   []string
		args   []string
	}{
		"policy-verify":                {},
		"policy-verify-json":           {args: []string{"-o", "json"}},
		"policy-verify-changed-json":   {files: map[string]string{"a.toml": document("name = \"b\""), "tests/a.yaml": "kind: Job\n"}, args: []string{"-o", "json"}},
		"policy-verify-broken-yaml":    {files: map[string]string{"a.toml": document("nome = 1")}, args: []string{"-o", "yaml"}},
		"policy-verify-unsigned-json":  {change: remove("set.toml", "set.toml.minisig"), args: []string{"-o", "json"}},
		"policy-verify-several-keys":   {keys: []string{other, keyFile(t, "minisign.pub")}},
		"policy-verify-other-key":      {keys: []string{other}},
		"policy-verify-changed":        {files: map[string]string{"a.toml": document("name = \"b\""), "tests/a.yaml": "kind: Job\n"}},
		"policy-verify-added":          {files: map[string]string{"b.toml": document("name = \"b\"")}},
		"policy-verify-removed":        {files: map[string]string{"b.toml": policyFiles()["a.toml"]}, change: remove("a.toml")},
		"policy-verify-broken":         {files: map[string]string{"a.toml": document("nome = 1")}},
		"policy-verify-unsigned":       {change: remove("set.toml", "set.toml.minisig")},
		"policy-verify-no-signature":   {change: remove("set.toml.minisig")},
		"policy-verify-no-manifest":    {change: remove("set.toml")},
		"policy-verify-other-manifest": {files: map[string]string{"set.toml": "api = \"wardlet.dev/v1\"\nrevision = 9\n"}},
		"policy-verify-bad-manifest":   {files: map[string]string{"set.toml": "api = \"wardlet.dev/v1\"\nrevison = 9\n"}},
		"policy-verify-torn":           {files: map[string]string{"set.toml.minisig": "untrusted comment: x\nRUQ"}},
		"policy-verify-pipe":           {change: instead("set.toml.minisig", pipe)},
		"policy-verify-link":           {change: instead("set.toml", link)},
		"policy-verify-steers-nothing": {files: map[string]string{"b\x1b[2J.toml": document("name = \"b\"")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := signedDirectory(t)
			writeFiles(t, dir, test.files)
			if test.change != nil {
				if err := test.change(dir); err != nil {
					t.Fatal(err)
				}
			}
			if test.keys == nil {
				test.keys = []string{keyFile(t, "minisign.pub")}
			}
			args := append([]string{"policy", "verify", dir}, test.args...)
			for _, key := range test.keys {
				args = append(args, "--key", key)
			}
			golden(t, name, wardlet(t.Context(), args...), dir, "DIR")
		})
	}
}

func TestPolicyVerifyTakesAKeyOrItsFile(t *testing.T) {
	t.Parallel()
	dir, file, secret := signedDirectory(t), keyFile(t, "minisign.pub"), keyFile(t, "minisign.key")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	secretText, err := os.ReadFile(secret)
	if err != nil {
		t.Fatal(err)
	}
	const none = "--- stderr\nwardlet: --key names no file, and as a key: "
	for name, test := range map[string]struct{ key, want string }{
		"the line":            {line, "Revision:   1\n"},
		"the file":            {file, "Revision:   1\n"},
		"the text of a file":  {string(text), "Revision:   1\n"},
		"nothing":             {"", none + "there is no key;"},
		"a file not there":    {"/none.pub", none + "want a minisign public key, 56 characters that begin with RW; found 9 that are none\n"},
		"a torn line":         {line[:50], none + "want a minisign public key, 56 characters that begin with RW; found 50 that are none\n"},
		"a secret key":        {string(secretText), none + "this is a secret key, which must not be here;"},
		"a secret key's file": {secret, "--- stderr\nwardlet: " + secret + ": this is a secret key, which must not be here;"},
		"a directory":         {dir, "--- stderr\nwardlet: read " + dir + ": is a directory\n"},
		"a long file":         {"/proc/self/exe", "--- stderr\nwardlet: /proc/self/exe has more than the 4096 bytes of a key or a password; name another file\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := wardlet(t.Context(), "policy", "verify", dir, "--key", test.key)
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("printed\n%s\nwant first\n%s", got, test.want)
			}
			for line := range strings.Lines(string(secretText)) {
				if strings.Contains(got, strings.TrimSpace(line)) {
					t.Errorf("printed a secret:\n%s", got)
				}
			}
		})
	}
}

func TestPolicyVerifyOfADirectoryThatIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	golden(t, "policy-verify-no-directory", wardlet(t.Context(), "policy", "verify", dir, "--key", keyFile(t, "minisign.pub")), dir, "DIR")
}

func TestPolicyVerifyUsage(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"usage-policy-verify-none":   {"policy", "verify", "--key", "k"},
		"usage-policy-verify-two":    {"policy", "verify", "a", "b", "--key", "k"},
		"usage-policy-verify-output": {"policy", "verify", "a", "--key", "k", "-o", "wide"},
		"usage-policy-verify-no-key": {"policy", "verify", "a"},
		"help-policy-verify":         {"policy", "verify", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), args...))
		})
	}
}
