package signed

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The program minisign 0.11 made the files of testdata; only set.toml comes from Build.
// minisign.key is a secret key without a password that protects nothing. encrypted.key is the
// same key, encrypted with the password "correct horse" and with little work. other.pub is
// the public half of another pair. Both signatures are of set.toml.

func golden(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	must(tb, err)
	return text
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// publicKey returns the public key in a file of testdata.
func publicKey(tb testing.TB, name string) PublicKey {
	tb.Helper()
	key, err := ParseKey(string(golden(tb, name)))
	must(tb, err)
	return key
}

// secretKey returns the secret key in testdata/minisign.key.
func secretKey(tb testing.TB) *SecretKey {
	tb.Helper()
	key, err := ParseSecretKey(golden(tb, "minisign.key"), nil)
	must(tb, err)
	return key
}

// sum returns a digest for tests.
func sum(n int) string { return fmt.Sprintf("%064x", n) }

// three returns the digests by file name that testdata/set.toml lists.
func three() map[string]string {
	return map[string]string{"allowed-images.toml": sum(1), "allowed-images.wasm": sum(2), "tests/forbidden.yaml": sum(3)}
}

// wants compares the text of an error; want is "" for no error.
func wants(tb testing.TB, err error, want string) {
	tb.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		tb.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
}
