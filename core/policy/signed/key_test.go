package signed

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestAKeyIsTakenAsMinisignPrintsIt(t *testing.T) {
	t.Parallel()
	file := string(golden(t, "minisign.pub"))
	comment, line, _ := strings.Cut(strings.TrimSpace(file), "\n")
	id := comment[strings.LastIndex(comment, " ")+1:]
	for name, text := range map[string]string{
		"the line":                     line,
		"the line with its end":        line + "\n",
		"the line with blanks":         "  " + line + "\t\n\n",
		"the file":                     file,
		"the file with DOS line ends":  strings.ReplaceAll(file, "\n", "\r\n"),
		"the file without its end":     strings.TrimSpace(file),
		"below another comment":        "untrusted comment: mine\n" + line,
		"below a comment that is none": "untrusted comment:\n" + line,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := ParseKey(text)
			must(t, err)
			if key.String() != line || key.ID() != id {
				t.Errorf("key %s of ID %s, want %s of %s", key, key.ID(), line, id)
			}
			var again PublicKey
			printed, err := key.MarshalText()
			must(t, err)
			must(t, again.UnmarshalText(printed))
			if !again.Equal(key) || again != key || key.Equal(publicKey(t, "other.pub")) {
				t.Errorf("printed and read again it is %s, want %s", again, key)
			}
		})
	}
}

func TestAKeyIsRefusedFor(t *testing.T) {
	t.Parallel()
	line := publicKey(t, "minisign.pub").String()
	raw, err := base64.StdEncoding.DecodeString(line)
	must(t, err)
	signature := strings.Split(string(golden(t, "legacy.minisig")), "\n")[1]
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                {"", "there is no key; want the line of a minisign key, with or without its comment"},
		"only a comment":         {"untrusted comment: RW\n", "there is no key; want the line of a minisign key, with or without its comment"},
		"a character too few":    {line[:55], "want a minisign public key, 56 characters that begin with RW; found 55 that are none"},
		"a character too many":   {line + "A", "want a minisign public key, 56 characters that begin with RW; found 57 that are none"},
		"four too many":          {line + "AAAA", "want a minisign public key, 56 characters that begin with RW; found 60 that are none"},
		"another alphabet":       {"RW" + strings.Repeat("_", 54), "want a minisign public key, 56 characters that begin with RW; found 56 that are none"},
		"another algorithm":      {"RU" + line[2:], "want a minisign public key, 56 characters that begin with RW; found 56 that are none"},
		"another algorithm, too": {base64.StdEncoding.EncodeToString(append([]byte("Ee"), raw[2:]...)), "want a minisign public key, 56 characters that begin with RW; found 56 that are none"},
		"a blank within":         {line[:20] + " " + line[20:], "want a minisign public key, 56 characters that begin with RW; found 57 that are none"},
		"a signature":            {signature, "want a minisign public key, 56 characters that begin with RW; found 100 that are none"},
		"a secret key":           {string(golden(t, "minisign.key")), "this is a secret key, which must not be here; the public key is in the file beside it that ends in .pub"},
		"an encrypted key":       {string(golden(t, "encrypted.key")), "this is a secret key, which must not be here; the public key is in the file beside it that ends in .pub"},
		"two keys":               {line + "\n" + line, "want one minisign key, with or without its comment, found 2 lines"},
		"two keys and a comment": {"untrusted comment: x\n" + line + "\n" + line, "want one minisign key, with or without its comment, found 3 lines"},
		"another comment":        {"# mine\n" + line, "want one minisign key, with or without its comment, found 2 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := ParseKey(test.text)
			wants(t, err, test.want)
			if key != (PublicKey{}) {
				t.Errorf("key %s", key)
			}
		})
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(string(golden(f, "minisign.pub")))
	f.Add(publicKey(f, "other.pub").String())
	f.Add(string(golden(f, "minisign.key")))
	f.Add(string(golden(f, "legacy.minisig")))
	f.Fuzz(func(t *testing.T, text string) {
		key, err := ParseKey(text)
		if err != nil {
			// The error must not quote a secret key that was passed by mistake.
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); len(line) > 80 && strings.Contains(err.Error(), line) {
					t.Errorf("the error quotes the text: %v", err)
				}
			}
			return
		}
		if len(key.String()) != keyLength || !strings.Contains(text, key.String()) {
			t.Fatalf("key %q of %q", key, text)
		}
		again, err := ParseKey(key.String())
		must(t, err)
		if again != key || key.minisign().String() != key.String() || key.ID() == "" {
			t.Errorf("read again it is %s, want %s", again, key)
		}
	})
}
