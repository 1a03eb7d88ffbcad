package object

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyPlaces(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("k", MinKeyFile)
	for name, tc := range map[string]struct {
		// file, credential and generated are the keys in these places, "" for none. mode is the
		// mode of file.
		file, credential, generated string
		mode                        os.FileMode
		// want is the place of the key that is used, and fault is a part of the error.
		want, fault string
	}{
		"operator's":                  {file: good, credential: good, mode: 0o600, want: "file"},
		"systemd's":                   {credential: good, generated: good, want: "credential"},
		"made":                        {want: "generated"},
		"made before":                 {generated: good, want: "generated"},
		"readable by others":          {file: good, mode: 0o640, fault: "has mode 0640: others than its owner may read it; run chmod 600 on it"},
		"short":                       {file: "secret", mode: 0o600, fault: "it has 6 bytes; a key file has 32 to 4096 random bytes"},
		"long":                        {file: strings.Repeat(good, 200), mode: 0o600, fault: "has 6400 bytes; a key file has 32 to 4096 random bytes"},
		"made, and cut off":           {generated: "k", want: "generated"},
		"made, and restored readable": {generated: good, mode: 0o644, fault: "has mode 0644: others than its owner may read it"},
		"operator's, and gone":        {mode: 0, file: "-", fault: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			places := KeyPlaces{Generated: filepath.Join(dir, "generated")}
			write := func(name, text string, mode os.FileMode) {
				if text == "" || text == "-" {
					return
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
					t.Fatal(err)
				}
			}
			write("file", tc.file, tc.mode)
			made := os.FileMode(0o600)
			if tc.file == "" && tc.mode != 0 {
				made = tc.mode
			}
			write("generated", tc.generated, made)
			if tc.file != "" {
				places.File = filepath.Join(dir, "file")
			}
			if tc.credential != "" {
				places.Credentials = dir
				write(KeyCredential, tc.credential, 0o440)
			}
			key, err := places.Load()
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Fatalf("got %v, want %q", err, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := places.Load()
			if err != nil {
				t.Fatal(err)
			}
			if text, err := again.open("a", key.seal("a", []byte("text"))); string(text) != "text" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			if text, err := key.open("b", key.seal("a", []byte("text"))); err == nil {
				t.Errorf("what another object's copy says is read: %q", text)
			}
			at := filepath.Base(places.Place().Path)
			if at == KeyCredential {
				at = "credential"
			}
			if at != tc.want || places.Place().Generated != (tc.want == "generated") {
				t.Errorf("the key is %+v", places.Place())
			}
		})
	}
}
