package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/policy/signed"
)

// policyFiles returns the files of a set of one policy, by path.
func policyFiles() map[string]string {
	return map[string]string{
		"a.toml": fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = \"a\"\nmodule = \"a.wasm\"\nsha256 = \"%x\"\nhooks = [\"admit\"]\n[[test]]\npod = \"tests/a.yaml\"\nexpect = \"deny\"\n", sha256.Sum256([]byte("a module"))),
		"a.wasm": "a module", "tests/a.yaml": "kind: Pod\n",
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// keyFile returns a copy of a key that minisign generated. Only the owner may read the copy. The
// public half of the key is minisign.pub.
func keyFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../core/policy/signed/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// policyDirectory returns a directory with policyFiles.
func policyDirectory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, policyFiles())
	return dir
}

func TestPolicySign(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key, password string
		files         map[string]string
		args          []string
	}{
		"policy-sign":          {},
		"policy-sign-json":     {args: []string{"-o", "json"}},
		"policy-sign-yaml":     {args: []string{"--revision", "12", "-o", "yaml"}},
		"policy-sign-revision": {args: []string{"--revision", "12"}},
		"policy-sign-password": {key: "encrypted.key", password: "correct horse\n"},
		"policy-sign-dos":      {key: "encrypted.key", password: "correct horse\r\nmore\r\n"},
		// A manifest that cannot be read does not prevent a new one.
		"policy-sign-over": {files: map[string]string{"set.toml": "revision =", "set.toml.minisig": "torn"}, args: []string{"--revision", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := policyDirectory(t)
			writeFiles(t, dir, test.files)
			if test.key == "" {
				test.key = "minisign.key"
			}
			args := append([]string{"policy", "sign", dir, "--key", keyFile(t, test.key)}, test.args...)
			if test.password != "" {
				secret := t.TempDir()
				writeFiles(t, secret, map[string]string{"password": test.password})
				args = append(args, "--password-file", filepath.Join(secret, "password"))
			}
			golden(t, name, wardlet(t.Context(), args...))
			verified := wardlet(t.Context(), "policy", "verify", dir, "--key", keyFile(t, "minisign.pub"))
			if !strings.HasSuffix(verified, "--- exit status 0\n") {
				t.Errorf("what was signed does not verify:\n%s", verified)
			}
		})
	}
}

func TestEverySignatureHasARevisionOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, key := policyDirectory(t), keyFile(t, "minisign.key")
	for i, args := range [][]string{nil, nil, {"--revision", "7"}, {"--revision", "7"}, nil} {
		want := fmt.Sprintf("Revision:     %d\n", []int{1, 2, 7, 7, 8}[i])
		if got := wardlet(t.Context(), append([]string{"policy", "sign", dir, "--key", key}, args...)...); !strings.HasPrefix(got, want) {
			t.Errorf("signature %d: printed\n%s\nwant first %s", i+1, got, want)
		}
	}
}

func TestPolicySignRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   string
		mode  os.FileMode
		files map[string]string
		args  []string
		want  string
	}{
		"a key that others can read":         {mode: 0o640, want: "KEY can be used by others (its mode is 0640): \"chmod 600\" it; what others may have read, replace by a new one"},
		"a key that others can write":        {mode: 0o602, want: "KEY can be used by others (its mode is 0602): \"chmod 600\" it; what others may have read, replace by a new one"},
		"a public key":                       {key: "minisign.pub", want: "KEY: this is a public key; sets are signed with the secret one"},
		"a directory as a key":               {args: []string{"--key", "/"}, want: "/ can be used by others"},
		"a key that is not there":            {args: []string{"--key", "/none.key"}, want: "open /none.key: no such file or directory"},
		"a file too large for a key":         {args: []string{"--key", "DIR/large"}, files: map[string]string{"large": strings.Repeat("x", 4097)}, want: "DIR/large has more than the 4096 bytes of a key or a password; name another file"},
		"a wrong password":                   {key: "encrypted.key", args: []string{"--password-file", "DIR/secret"}, files: map[string]string{"secret": "horse"}, want: "KEY: the secret key cannot be decrypted: the password is another one, or the file is damaged"},
		"an empty password":                  {key: "encrypted.key", args: []string{"--password-file", "DIR/secret"}, files: map[string]string{"secret": "\nx"}, want: "KEY: the first line of DIR/secret, which should be the password, is empty"},
		"a password nobody is there to type": {key: "encrypted.key", want: "KEY: the key has a password, and standard input is no terminal to ask for it; name a file with it as --password-file"},
		"to go back":                         {files: map[string]string{"set.toml": "api = \"wardlet.dev/v1\"\nrevision = 7\n"}, args: []string{"--revision", "6"}, want: "the policies cannot be signed:\nDIR/set.toml has revision 7, and an agent that accepted it refuses 6; sign with 7 or more, or remove that file first"},
		"to guess a revision":                {files: map[string]string{"set.toml": "revision =\n"}, want: "the policies cannot be signed:\nthe revision so far cannot be told; name the new one with --revision:\nDIR/set.toml:1: expected value but found '\\n' instead"},
		"a revision too great":               {args: []string{"--revision", "9223372036854775808"}, want: "the policies cannot be signed:\nthe revision 9223372036854775808 is too great"},
		"a document of mistakes":             {files: map[string]string{"b.toml": "api = \"wardlet.dev/v1\"\nnome = \"\x1b[2J\"\n"}, want: "the policies cannot be signed:\nDIR/b.toml:2: "},
		"a name that steers":                 {files: map[string]string{"b\x1b[2J.toml": "x"}, want: `the policies cannot be signed:` + "\n" + `DIR/b\x1b[2J.toml:1: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := policyDirectory(t)
			writeFiles(t, dir, test.files)
			before := clitest.ReadFiles(t, dir)
			if test.key == "" {
				test.key = "minisign.key"
			}
			key := keyFile(t, test.key)
			if test.mode != 0 {
				if err := os.Chmod(key, test.mode); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"policy", "sign", dir, "--key", key}
			for _, arg := range test.args {
				args = append(args, strings.ReplaceAll(arg, "DIR", dir))
			}
			got := strings.NewReplacer(dir, "DIR", key, "KEY").Replace(wardlet(t.Context(), args...))
			if !strings.HasPrefix(got, "--- stderr\nwardlet: "+strings.ReplaceAll(test.want, "\n", "\n  ")) || !strings.HasSuffix(got, "--- exit status 1\n") || strings.Contains(got, "\x1b") {
				t.Errorf("printed\n%s\nwant\n%s", got, test.want)
			}
			if diff := cmp.Diff(before, clitest.ReadFiles(t, dir)); diff != "" {
				t.Errorf("the directory changed (-was +is):\n%s", diff)
			}
		})
	}
}

func TestADirectoryWithoutPoliciesIsNotSigned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := wardlet(t.Context(), "policy", "sign", dir, "--key", keyFile(t, "minisign.key"))
	if !strings.Contains(got, dir+" has no polic") || !strings.HasSuffix(got, "--- exit status 1\n") {
		t.Errorf("printed\n%s", got)
	}
	if files := clitest.ReadFiles(t, dir); len(files) > 0 {
		t.Errorf("written: %v", slices.Sorted(maps.Keys(files)))
	}
}

func TestPolicySignUsage(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"usage-policy-sign-none":     {"policy", "sign", "--key", "k"},
		"usage-policy-sign-two":      {"policy", "sign", "a", "b", "--key", "k"},
		"usage-policy-sign-no-key":   {"policy", "sign", "a"},
		"usage-policy-sign-zero":     {"policy", "sign", "a", "--key", "k", "--revision", "0"},
		"usage-policy-sign-below":    {"policy", "sign", "a", "--key", "k", "--revision=-1"},
		"usage-policy-sign-output":   {"policy", "sign", "a", "--key", "k", "-o", "wide"},
		"usage-policy-sign-generate": {"policy", "sign", "a", "--key", "k", "--generate"},
		"help-policy-sign":           {"policy", "sign", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), args...))
		})
	}
}

func TestAKeyThatWasGeneratedSigns(t *testing.T) {
	t.Parallel()
	dir, key := policyDirectory(t), filepath.Join(t.TempDir(), "new.key")
	generated := wardlet(t.Context(), "policy", "sign", "--generate", "--key", key)
	lines := strings.Split(generated, "\n")
	if len(lines) != 6 || lines[4] != "--- exit status 0" {
		t.Fatalf("printed\n%s", generated)
	}
	public := strings.TrimPrefix(lines[2], "Public key:      ")
	if lines[0] != "Secret key:      "+key+", without a password" || lines[3] != "In agent.toml:   trusted_keys = [\""+public+"\"]" {
		t.Errorf("printed\n%s", generated)
	}
	if info, err := os.Stat(key); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	for _, args := range [][]string{{"policy", "sign", dir, "--key", key}, {"policy", "verify", dir, "--key", public}} {
		if got := wardlet(t.Context(), args...); !strings.HasSuffix(got, "--- exit status 0\n") {
			t.Errorf("%v printed\n%s", args[1], got)
		}
	}
	secret := clitest.ReadFiles(t, filepath.Dir(key))
	if got, want := wardlet(t.Context(), "policy", "sign", "--generate", "--key", key), "--- stderr\nwardlet: "+key+" is there already; name a new file, or sign with that one without --generate\n--- exit status 1\n"; got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if diff := cmp.Diff(secret, clitest.ReadFiles(t, filepath.Dir(key))); diff != "" {
		t.Errorf("the key changed (-was +is):\n%s", diff)
	}
}

func TestAKeyThatWasGeneratedIsToldAsAnObject(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new.key")
	text := wardlet(t.Context(), "policy", "sign", "--generate", "--key", file, "-o", "json")
	var got struct{ SecretKey, Key, PublicKey string }
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	key, err := signed.ParseKey(got.PublicKey)
	if err != nil || key.ID() != got.Key || got.SecretKey != file {
		t.Errorf("%v: told %+v", err, got)
	}
}

// terminal opens a new terminal. It returns the side of the keyboard and the side of the command.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, tty *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// prompt is a writer that signals when the command asks for something.
type prompt struct {
	bytes.Buffer
	asked chan string
}

func (p *prompt) Write(text []byte) (int, error) {
	if strings.HasSuffix(string(text), ": ") {
		p.asked <- string(text)
	}
	return p.Buffer.Write(text)
}

// signOnTerminal signs with the encrypted key. It calls then when the command has asked for the
// password.
func signOnTerminal(ctx context.Context, t *testing.T, then func(keyboard *os.File)) (out, errOut string, err error) {
	t.Helper()
	keyboard, tty := terminal(t)
	key := keyFile(t, "encrypted.key")
	var printed bytes.Buffer
	asks := &prompt{asked: make(chan string, 1)}
	root := (&app{&cli.App{Out: &printed, ErrOut: asks, Now: func() time.Time { return noon }}}).root()
	root.SetIn(tty)
	root.SetErr(asks)
	root.SetArgs([]string{"policy", "sign", policyDirectory(t), "--key", key})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	select {
	case text := <-asks.asked:
		if want := "Password of " + key + ": "; text != want {
			t.Errorf("asked %q, want %q", text, want)
		}
	case err := <-ended:
		t.Fatalf("it ended without asking: %v", err)
	}
	if echoes(t, tty) {
		t.Error("the terminal shows what is typed")
	}
	then(keyboard)
	err = <-ended
	if !echoes(t, tty) {
		t.Error("the terminal no longer shows what is typed")
	}
	keyboard.Close()
	return printed.String(), asks.String(), err
}

func TestThePasswordIsAskedForOnATerminalThatDoesNotShowIt(t *testing.T) {
	t.Parallel()
	out, errOut, err := signOnTerminal(t.Context(), t, func(keyboard *os.File) {
		if _, err := io.WriteString(keyboard, "correct horse\n"); err != nil {
			t.Error(err)
		}
	})
	if err != nil || !strings.HasPrefix(out, "Revision:     1\n") {
		t.Errorf("printed\n%s\n%s\nerror %v", out, errOut, err)
	}
	if strings.Contains(out+errOut, "horse") || !strings.HasSuffix(errOut, ": \n") {
		t.Errorf("printed\n%s\n%q", out, errOut)
	}
}

func TestThePasswordIsNotWaitedForWhenTheCommandIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := signOnTerminal(ctx, t, func(*os.File) { cancel() })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "no password was read: context canceled") {
		t.Errorf("error %v", err)
	}
}

func TestADirectoryWithoutPoliciesIsSignedWhereThatIsMeant(t *testing.T) {
	t.Parallel()
	dir, key := policyDirectory(t), keyFile(t, "minisign.key")
	sign := func(args ...string) string {
		return wardlet(t.Context(), append([]string{"policy", "sign", dir, "--key", key}, args...)...)
	}
	verify := func() string {
		return strings.ReplaceAll(wardlet(t.Context(), "policy", "verify", dir, "--key", keyFile(t, "minisign.pub")), dir, "DIR")
	}
	if got := sign("--allow-empty"); !strings.Contains(got, "Files:        3\n") {
		t.Errorf("a set with policies: printed\n%s", got)
	}
	for path := range policyFiles() {
		if err := os.Remove(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	if got := verify(); !strings.Contains(got, "DIR/a.toml: set.toml lists it, but it is not in the set") {
		t.Errorf("emptied: verify printed\n%s", got)
	}
	if got := sign(); !strings.Contains(got, "or mean it with --allow-empty") {
		t.Errorf("emptied: printed\n%s", got)
	}
	if got := sign("--allow-empty"); !strings.HasPrefix(got, "Revision:     2\nFiles:        0\n") {
		t.Errorf("emptied and meant: printed\n%s", got)
	}
	if got := verify(); !strings.HasPrefix(got, "Revision:   2\nFiles:      0\n") {
		t.Errorf("signed: verify printed\n%s", got)
	}
	dir += "/none"
	if got := sign("--allow-empty"); !strings.Contains(got, "the policy directory "+dir+" is missing") {
		t.Errorf("missing: printed\n%s", got)
	}
}
