package signed

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestASecretKeyIsTakenAsMinisignWritesIt(t *testing.T) {
	t.Parallel()
	line := strings.Split(string(golden(t, "minisign.key")), "\n")[1]
	for name, test := range map[string]struct {
		text, password string
		asked          int
	}{
		"without a password":            {string(golden(t, "minisign.key")), "", 0},
		"without a password or comment": {line, "", 0},
		"with DOS line ends":            {strings.ReplaceAll(string(golden(t, "minisign.key")), "\n", "\r\n"), "", 0},
		"encrypted":                     {string(golden(t, "encrypted.key")), "correct horse", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			key, err := ParseSecretKey([]byte(test.text), func() (string, error) {
				asked++
				return test.password, nil
			})
			must(t, err)
			if key.Public() != publicKey(t, "minisign.pub") || asked != test.asked {
				t.Errorf("public key %s, password asked for %d times", key.Public(), asked)
			}
			pair, err := Sign(8, three(), key, noon)
			must(t, err)
			id, comment, err := VerifyComment(pair.Manifest, pair.Signature, []PublicKey{publicKey(t, "minisign.pub")})
			if err != nil || id != key.Public().ID() || comment != "revision 8, signed 2026-01-02T12:00:00Z" {
				t.Errorf("signed by %s with comment %q: %v", id, comment, err)
			}
		})
	}
}

func TestASecretKeyIsRefusedFor(t *testing.T) {
	t.Parallel()
	plain := strings.Split(string(golden(t, "minisign.key")), "\n")[1]
	changed := func(at int, to byte) string {
		raw, err := base64.StdEncoding.DecodeString(plain)
		must(t, err)
		raw[at] = to
		return base64.StdEncoding.EncodeToString(raw)
	}
	const locked = "the secret key cannot be decrypted: the password is another one, or the file is damaged"
	for name, test := range map[string]struct {
		text     string
		password error
		want     string
	}{
		"nothing":                 {text: "", want: "there is no key; want the line of a minisign key, with or without its comment"},
		"being public":            {text: string(golden(t, "minisign.pub")), want: "this is a public key; sets are signed with the secret one"},
		"being no key":            {text: "secret", want: "want a minisign secret key, found 6 characters that are none"},
		"being torn":              {text: plain[:len(plain)-8], want: "want a minisign secret key, found 204 characters that are none"},
		"being two":               {text: plain + "\n" + plain, want: "want one minisign key, with or without its comment, found 2 lines"},
		"another algorithm":       {text: changed(0, 'e'), want: "the secret key is damaged: minisign: invalid private key: invalid key type '25701'"},
		"another encryption":      {text: changed(2, 'x'), want: "the secret key is damaged: minisign: invalid private key: invalid KDF '120'"},
		"the wrong password":      {text: string(golden(t, "encrypted.key")), want: locked},
		"a password nobody gives": {text: string(golden(t, "encrypted.key")), password: errors.New("no terminal"), want: "no terminal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseSecretKey([]byte(test.text), func() (string, error) { return "wrong", test.password })
			wants(t, err, test.want)
		})
	}
}

func TestADamagedSecretKeySignsNothing(t *testing.T) {
	t.Parallel()
	raw, err := base64.StdEncoding.DecodeString(strings.Split(string(golden(t, "minisign.key")), "\n")[1])
	must(t, err)
	raw[70] ^= 1 // a byte of the secret half
	key, err := ParseSecretKey([]byte(base64.StdEncoding.EncodeToString(raw)), nil)
	must(t, err)
	_, err = Sign(1, three(), key, noon)
	wants(t, err, "the secret key is damaged: what it signs does not verify; use a copy of it, or another key")
}

func TestAGeneratedKeySigns(t *testing.T) {
	t.Parallel()
	key, err := GenerateKey(nil)
	must(t, err)
	again, err := GenerateKey(nil)
	must(t, err)
	if key.Public() == again.Public() {
		t.Error("two generated keys are the same")
	}
	text, err := key.MarshalText()
	must(t, err)
	again, err = ParseSecretKey(text, nil)
	must(t, err)
	pair, err := Sign(1, three(), again, noon)
	must(t, err)
	public, err := ParseKey(key.Public().String())
	must(t, err)
	if _, err := Verify(pair.Manifest, pair.Signature, []PublicKey{public}); err != nil {
		t.Error(err)
	}
}

func TestASecretKeyIsWrittenAsMinisignDoes(t *testing.T) {
	t.Parallel()
	text, err := secretKey(t).MarshalText()
	must(t, err)
	if string(text) != string(golden(t, "minisign.key")) {
		t.Errorf("written\n%swant\n%s", text, golden(t, "minisign.key"))
	}
}
