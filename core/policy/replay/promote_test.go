package replay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

// withCandidate returns a directory with a policy and its candidate, and the state of the
// set.
func withCandidate(t *testing.T) (dir string, set *api.PolicySet) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) (digest string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	module := write("p.wasm", "p")
	head := "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nsha256 = \"" + module + "\"\nhooks = [\"admit\"]\n"
	shadow := &api.PolicyShadow{
		InForceSHA256:   write("p.toml", head+"mode = \"warn\"\n"),
		CandidateSHA256: write("next.toml", head+"mode = \"shadow\" # next\n[shadow]\nmin_decisions = 1\n"),
	}
	return dir, &api.PolicySet{Directory: dir, Policies: []api.PolicyState{
		{Name: "p", Mode: "warn", Document: filepath.Join(dir, "p.toml"), Module: filepath.Join(dir, "p.wasm"), SHA256: module},
		{Name: "p", Mode: "shadow", Document: filepath.Join(dir, "next.toml"), Module: filepath.Join(dir, "p.wasm"), SHA256: module, Shadow: shadow},
	}}
}

func TestACandidateTakesThePlaceOfThePolicy(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} {
		dir, set := withCandidate(t)
		to := dir
		if copied {
			to, _ = withCandidate(t)
		}
		path, gone, err := Promote(set, "p", to)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || path != filepath.Join(to, "p.toml") || !strings.HasSuffix(string(text), "mode = \"warn\" # next\n") {
			t.Errorf("%s, %v:\n%s", path, err, text)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if entries, err := os.ReadDir(to); err != nil || len(entries) != 2 || gone != filepath.Join(to, "next.toml") {
			t.Errorf("%v is left, %v", entries, err)
		}
	}
}

func TestACandidateWhoseFileCannotGoIsToldToBeInForce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// meanwhile runs after both documents were read and before they are changed.
		meanwhile func(next string) error
		want      string
	}{
		"nothing meanwhile": {func(string) error { return nil }, ""},
		"it is gone":        {os.Remove, ""},
		"it is edited": {
			func(next string) error { return os.WriteFile(next, []byte("# the next one"), 0o600) }, "it has been edited meanwhile",
		},
		"it cannot be read": {
			func(next string) error { return errors.Join(os.Remove(next), os.Mkdir(next, 0o700)) }, "is a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, set := withCandidate(t)
			p, err := promotionOf(set, "p", dir)
			if err == nil {
				err = test.meanwhile(filepath.Join(dir, "next.toml"))
			}
			if err != nil {
				t.Fatal(err)
			}
			path, gone, err := p.carryOut()
			text, _ := os.ReadFile(filepath.Join(dir, "p.toml"))
			if path != filepath.Join(dir, "p.toml") || !strings.HasSuffix(string(text), "mode = \"warn\" # next\n") {
				t.Errorf("%s:\n%s", path, text)
			}
			_, stays := os.Stat(filepath.Join(dir, "next.toml"))
			if test.want == "" {
				if err != nil || gone != filepath.Join(dir, "next.toml") || !os.IsNotExist(stays) {
					t.Errorf("%q, %v, %v", gone, stays, err)
				}
				return
			}
			want := path + " is now what " + filepath.Join(dir, "next.toml") + " was, "
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), test.want) || gone != "" || stays != nil {
				t.Errorf("%q, %v, %v", gone, stays, err)
			}
		})
	}
}

func TestWhatTakesThePlaceOfADocumentBelongsToTheSame(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	dir, set := withCandidate(t)
	if err := os.Chown(filepath.Join(dir, "p.toml"), 1234, 4321); err != nil {
		t.Fatal(err)
	}
	path, _, err := Promote(set, "p", dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 1234 || st.Gid != 4321 || info.Mode().Perm() != 0o640 {
		t.Errorf("%+v", info.Sys())
	}
}

func TestACandidateThatMayNotTakeThePlaceStaysWhereItIs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(dir string, set *api.PolicySet)
		want   string
	}{
		"one that waits":     {func(_ string, s *api.PolicySet) { s.Policies[1].Shadow.Waits = "it was asked in 3 of 100 decisions" }, "asked in 3 of 100"},
		"of an unknown name": {func(_ string, s *api.PolicySet) { s.Policies[0].Name = "q" }, `no policy "p"`},
		"none":               {func(_ string, s *api.PolicySet) { s.Policies = s.Policies[:1] }, "has no candidate"},
		"of a set refused":   {func(_ string, s *api.PolicySet) { s.Refused = "broken" }, "mend that first"},
		"of an agent that does not say what was compared": {func(_ string, s *api.PolicySet) { s.Policies[1].Shadow.CandidateSHA256 = "" }, "start it anew"},
		"one that is changed": {func(dir string, _ *api.PolicySet) {
			_ = os.WriteFile(filepath.Join(dir, "next.toml"), []byte("# other"), 0o600)
		}, "is not what was compared"},
		"beside a change": {func(dir string, _ *api.PolicySet) {
			_ = os.WriteFile(filepath.Join(dir, "p.toml"), []byte("# other"), 0o600)
		}, "is not what was compared"},
		"one that is gone": {func(dir string, _ *api.PolicySet) { _ = os.Remove(filepath.Join(dir, "next.toml")) }, "no such file"},
	} {
		_, set := withCandidate(t)
		to, _ := withCandidate(t)
		test.change(to, set)
		before, _ := os.ReadFile(filepath.Join(to, "p.toml"))
		_, _, err := Promote(set, "p", to)
		after, _ := os.ReadFile(filepath.Join(to, "p.toml"))
		if err == nil || !strings.Contains(err.Error(), test.want) || string(before) != string(after) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
