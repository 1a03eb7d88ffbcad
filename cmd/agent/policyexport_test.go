package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// unpackedBundle returns the content of all files in a bundle.
func unpackedBundle(t *testing.T, file string) []byte {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var all bytes.Buffer
	for _, f := range archive.File {
		r, err := f.Open()
		if err == nil {
			_, err = io.Copy(&all, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.Bytes()
}

func TestPolicyExport(t *testing.T) {
	t.Parallel()
	dir, to := decided(t), t.TempDir()
	for name, flags := range map[string][]string{
		"all": nil, "redacted": {"--redact"}, "json": {"-o", "json"},
	} {
		file := filepath.Join(to, name+".zip")
		golden(t, "policy-export-"+name, wardlet(t.Context(), append([]string{"policy", "export", "--state", dir, "--to", file}, flags...)...), to, "DIR")
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if hidden := !bytes.Contains(unpackedBundle(t, file), []byte("hunter2")); hidden != (name == "redacted") {
			t.Errorf("%s: the password is not in it: %t", name, hidden)
		}
	}
	golden(t, "policy-export-there", wardlet(t.Context(), "policy", "export", "--state", dir, "--to", filepath.Join(to, "all.zip")), to, "DIR")
	golden(t, "policy-export-nowhere", wardlet(t.Context(), "policy", "export", "--state", dir))
	golden(t, "policy-export-unknown", wardlet(t.Context(), "policy", "export", "--state", dir, "operator-9", "--to", filepath.Join(to, "none.zip")), to, "DIR")
	golden(t, "policy-export-unknown-json", wardlet(t.Context(), "policy", "export", "--state", dir, "operator-9", "--to", filepath.Join(to, "none.zip"), "-o", "json"), to, "DIR")
	golden(t, "policy-export-one", wardlet(t.Context(), "policy", "export", "--state", dir, "operator-2", "operator-2", "--to", filepath.Join(to, "one.zip")), to, "DIR")
	golden(t, "help-policy-export", wardlet(t.Context(), "policy", "export", "--help"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"all", "redacted"} {
		golden(t, "policy-replay", wardlet(t.Context(), "policy", "replay", "--bundle", filepath.Join(to, name+".zip")))
	}
	golden(t, "policy-replay-one", wardlet(t.Context(), "policy", "replay", "--bundle", filepath.Join(to, "one.zip")))
	golden(t, "policy-replay-no-bundle", wardlet(t.Context(), "policy", "replay", "--bundle", filepath.Join(to, "missing.zip")), to, "DIR")
	golden(t, "policy-replay-two-places", wardlet(t.Context(), "policy", "replay", "--bundle", "x.zip", "--state", "y"))
}

// rezipped copies a bundle. The function change returns the new text of each file, or nil to omit
// the file.
func rezipped(t *testing.T, from, to string, change func(name string, text []byte) []byte) {
	t.Helper()
	archive, err := zip.OpenReader(from)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var all bytes.Buffer
	out := zip.NewWriter(&all)
	for _, f := range archive.File {
		text, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if text = change(f.Name, text); text == nil {
			continue
		}
		w, err := out.Create(f.Name)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), os.WriteFile(to, all.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestABundleThatIsNotWholeIsNoBundle(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	whole := filepath.Join(to, "whole.zip")
	if r := wardlet(t.Context(), "policy", "export", "--state", decided(t), "--to", whole); !strings.HasSuffix(r, "status 0\n") {
		t.Fatal(r)
	}
	for name, leaves := range map[string]func(name string) bool{
		"no-manifest": func(name string) bool { return path.Base(name) != "manifest" },
		"no-segment":  func(name string) bool { return path.Ext(name) != ".log" },
	} {
		file := filepath.Join(to, name+".zip")
		rezipped(t, whole, file, func(name string, text []byte) []byte {
			if !leaves(name) {
				return nil
			}
			return text
		})
		golden(t, "policy-replay-"+name, wardlet(t.Context(), "policy", "replay", "--bundle", file), to, "DIR")
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte(".log")) + len(".log")
	text[at+40] ^= 1 // a byte of the compressed segment
	flipped := filepath.Join(to, "flipped.zip")
	if err := os.WriteFile(flipped, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := wardlet(t.Context(), "policy", "replay", "--bundle", flipped); !strings.HasSuffix(r, "status 1\n") || !strings.Contains(r, "damaged: decisions/operator/0000000000000001.log") {
		t.Error(r)
	}
}

func TestAPolicyThatReadsWhatIsTakenOutIsNotInARedactedBundle(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	dir := decided(t, "object.spec.@containers[*].args[0]", "--password=hunter2")
	golden(t, "policy-export-otherwise", wardlet(t.Context(), "policy", "export", "--state", dir, "--redact", "--to", filepath.Join(to, "some.zip")), to, "DIR")
}

func TestPolicyDiff(t *testing.T) {
	t.Parallel()
	dir, other := decided(t), t.TempDir()
	policyDenying(t, other, "strict", "object.spec.@containers[*].image", "good")
	golden(t, "policy-diff", wardlet(t.Context(), "policy", "diff", other, "--state", dir))
	golden(t, "policy-diff-json", wardlet(t.Context(), "policy", "diff", other, "--state", dir, "-o", "json"))
	same := t.TempDir()
	policyDenying(t, same, "p", "object.spec.@containers[*].image", "evil")
	golden(t, "policy-diff-none", wardlet(t.Context(), "policy", "diff", same, "--state", dir))
	golden(t, "policy-diff-tenant", wardlet(t.Context(), "policy", "diff", other, "--tenant", "a", "--state", dir))
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "p.toml"), []byte("api = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	golden(t, "policy-diff-refused", wardlet(t.Context(), "policy", "diff", broken, "--state", dir), dir, "STATE", broken, "DIR")
	golden(t, "help-policy-diff", wardlet(t.Context(), "policy", "diff", "--help"))
}
