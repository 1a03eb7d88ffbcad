package signed

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/wardlet/wardlet/core/printable"
)

func TestASignatureOfATrustedKeyVerifies(t *testing.T) {
	t.Parallel()
	key, other := publicKey(t, "minisign.pub"), publicKey(t, "other.pub")
	text := golden(t, "set.toml")
	dos := bytes.ReplaceAll(golden(t, "set.toml.minisig"), []byte("\n"), []byte("\r\n"))
	steering, err := secretKey(t).sign(text, "a\tb\x1b[2J\u202e"+strings.Repeat("x", 300))
	must(t, err)
	for name, test := range map[string]struct {
		signature []byte
		keys      []PublicKey
		comment   string
	}{
		"prehashed, by the program":    {golden(t, "set.toml.minisig"), []PublicKey{key}, "revision 7 by minisign"},
		"legacy, by the program":       {golden(t, "legacy.minisig"), []PublicKey{key}, "legacy"},
		"with DOS line ends":           {dos, []PublicKey{key}, "revision 7 by minisign"},
		"whichever key is the first":   {golden(t, "set.toml.minisig"), []PublicKey{{}, other, key}, "revision 7 by minisign"},
		"with a comment that steers":   {steering, []PublicKey{key}, `a b\x1b[2J\u202e` + strings.Repeat("x", 200-len(`a b\x1b[2J\u202e`)) + "…"},
		"whatever stands above it all": {append([]byte("untrusted comment: \x1b"), golden(t, "legacy.minisig")[bytes.IndexByte(golden(t, "legacy.minisig"), '\n'):]...), []PublicKey{key}, "legacy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, comment, err := VerifyComment(text, test.signature, test.keys)
			must(t, err)
			if id != key.ID() || comment != test.comment {
				t.Errorf("key %s, comment %q; want %s, %q", id, comment, key.ID(), test.comment)
			}
			if id, err := Verify(text, test.signature, test.keys); id != key.ID() || err != nil {
				t.Errorf("Verify gives %s, %v", id, err)
			}
		})
	}
}

// forged returns a key with the ID of testdata/minisign.pub and the bytes of
// testdata/other.pub.
func forged(tb testing.TB) PublicKey {
	tb.Helper()
	raw, err := base64.StdEncoding.DecodeString(publicKey(tb, "other.pub").String())
	must(tb, err)
	mine, err := base64.StdEncoding.DecodeString(publicKey(tb, "minisign.pub").String())
	must(tb, err)
	copy(raw[2:10], mine[2:10])
	key, err := ParseKey(base64.StdEncoding.EncodeToString(raw))
	must(tb, err)
	return key
}

func TestKeysOfOneIDAreAllTried(t *testing.T) {
	t.Parallel()
	keys := []PublicKey{forged(t), publicKey(t, "minisign.pub")}
	if id, err := Verify(golden(t, "set.toml"), golden(t, "set.toml.minisig"), keys); err != nil || id != keys[1].ID() {
		t.Errorf("key %s, error %v", id, err)
	}
}

func TestASignatureIsRefusedFor(t *testing.T) {
	t.Parallel()
	key, other := publicKey(t, "minisign.pub"), publicKey(t, "other.pub")
	good := string(golden(t, "set.toml.minisig"))
	lines := strings.Split(good, "\n")
	with := func(i int, line string) string {
		changed := strings.Split(good, "\n")
		changed[i] = line
		return strings.Join(changed, "\n")
	}
	// flipped changes one bit in a byte of a base64 line.
	flipped := func(line string, at int) string {
		raw, err := base64.StdEncoding.DecodeString(line)
		must(t, err)
		raw[at] ^= 1
		return base64.StdEncoding.EncodeToString(raw)
	}
	legacy := strings.Split(string(golden(t, "legacy.minisig")), "\n")
	wrong := "the signature names the key " + key.ID() + ", but that key did not sign this text: the text or the signature was changed; put back what was signed, or sign the set anew"
	const malformed = "the signature is malformed: "
	for name, test := range map[string]struct {
		text, signature string
		keys            []PublicKey
		want            string
	}{
		"not being there":                 {signature: "", want: `there is no signature; sign the set with "wardlet policy sign"`},
		"being one line":                  {signature: lines[1], want: malformed + "minisign: invalid signature; sign the set anew"},
		"being torn":                      {signature: good[:len(good)-20], want: malformed + "minisign: invalid signature: illegal base64 data at input byte 68; sign the set anew"},
		"being no base64":                 {signature: with(1, "?"), want: malformed + "minisign: invalid signature: illegal base64 data at input byte 0; sign the set anew"},
		"being too short":                 {signature: with(1, "RUQ="), want: malformed + "minisign: invalid signature length 2; sign the set anew"},
		"an algorithm nobody knows":       {signature: with(1, flipped(lines[1], 0)), want: malformed + "minisign: invalid signature: invalid algorithm 17476; sign the set anew"},
		"a trusted comment that is none":  {signature: with(2, "comment: x"), want: malformed + "minisign: invalid signature: invalid trusted comment; sign the set anew"},
		"its length":                      {signature: good + strings.Repeat("\n", MaxSignature), want: malformed + fmt.Sprintf("%d bytes long, more than the 16384 it may have; sign the set anew", len(good)+MaxSignature)},
		"another text":                    {text: string(golden(t, "set.toml")) + "\n", signature: good, want: wrong},
		"no text":                         {text: "\x00", signature: good, want: wrong},
		"another signature":               {signature: with(1, flipped(lines[1], 20)), want: wrong},
		"another signature of comments":   {signature: with(3, flipped(lines[3], 20)), want: wrong},
		"another trusted comment":         {signature: with(2, "trusted comment: revision 8\tby minisign"), want: wrong},
		"the other form's name":           {signature: with(1, "RW"+lines[1][2:]), want: wrong},
		"the other form's name, reversed": {signature: strings.Join([]string{legacy[0], "RU" + legacy[1][2:], legacy[2], legacy[3], ""}, "\n"), want: wrong},
		"halves of two signatures":        {signature: with(1, legacy[1]), want: wrong},
		"another key of that ID":          {signature: good, keys: []PublicKey{forged(t)}, want: wrong},
		"a key that is not trusted":       {signature: good, keys: []PublicKey{other, {}}, want: "the signature is one of the key " + key.ID() + ", which is not trusted (trusted: " + other.ID() + ", 0); sign the set with a key that is"},
		"no key that is trusted":          {signature: good, keys: []PublicKey{}, want: "the signature is one of the key " + key.ID() + ", which is not trusted (trusted: no key); sign the set with a key that is"},
		"naming another key":              {signature: with(1, flipped(lines[1], 2)), want: "the signature is one of the key " + flippedID(t, key) + ", which is not trusted (trusted: " + key.ID() + "); sign the set with a key that is"},
		"naming no key, and none trusted": {signature: with(1, zeroID(t, lines[1])), keys: []PublicKey{{}}, want: "the signature is one of the key 0, which is not trusted (trusted: 0); sign the set with a key that is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.text == "" {
				test.text = string(golden(t, "set.toml"))
			}
			if test.keys == nil {
				test.keys = []PublicKey{key}
			}
			id, comment, err := VerifyComment([]byte(test.text), []byte(test.signature), test.keys)
			wants(t, err, test.want)
			if id != "" || comment != "" {
				t.Errorf("with the error came key %q and comment %q", id, comment)
			}
		})
	}
}

// flippedID returns the ID of the key with its lowest bit changed.
func flippedID(tb testing.TB, key PublicKey) string {
	tb.Helper()
	return idText(key.minisign().ID() ^ 1)
}

// zeroID returns the signature line with the key ID 0.
func zeroID(tb testing.TB, line string) string {
	tb.Helper()
	raw, err := base64.StdEncoding.DecodeString(line)
	must(tb, err)
	clear(raw[2:10])
	return base64.StdEncoding.EncodeToString(raw)
}

func FuzzVerify(f *testing.F) {
	text := golden(f, "set.toml")
	f.Add(text, golden(f, "set.toml.minisig"))
	f.Add(text, golden(f, "legacy.minisig"))
	f.Add([]byte("x"), golden(f, "legacy.minisig"))
	f.Add(text, []byte("untrusted comment: \n\ntrusted comment: \n"))
	keys := []PublicKey{publicKey(f, "other.pub"), publicKey(f, "minisign.pub")}
	var comments []string
	for _, name := range []string{"set.toml.minisig", "legacy.minisig"} {
		var s minisign.Signature
		must(f, s.UnmarshalText(golden(f, name)))
		comments = append(comments, printable.Line(strings.ReplaceAll(s.TrustedComment, "\t", " ")))
	}
	f.Fuzz(func(t *testing.T, some, signature []byte) {
		id, comment, err := VerifyComment(some, signature, keys)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("the error steers: %q", err)
			}
			return
		}
		// Any other text or comment needs the secret key to be signed.
		if !bytes.Equal(some, text) || id != keys[1].ID() || comment != comments[0] && comment != comments[1] {
			t.Errorf("accepted %q with %q: key %s, comment %q", some, signature, id, comment)
		}
	})
}
