package preflight

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/state"
)

// openState creates the node's state and keeps it open, as an agent does.
func (n *located) openState(t *testing.T) *state.Dir {
	t.Helper()
	dir, err := state.Open(n.Cfg.Paths.StateRoot, slog.New(slog.DiscardHandler), state.WithIdentity(parts.Layout(n.Cfg).IdentityDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// other makes the files of pods belong to another installation.
func (n *located) other(t *testing.T) {
	t.Helper()
	root := n.Cfg.Paths.StateRoot
	n.Cfg.Paths.StateRoot = n.Path("other")
	n.openState(t)
	n.Cfg.Paths.StateRoot = root
}

var installations = regexp.MustCompile("[0-9a-f]{32}")

func TestTheStateOfAnAgentThatRunsIsReadAndNotTouched(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	dir := n.openState(t)
	if _, _, err := dir.NodeName("edge", nil); err != nil {
		t.Fatal(err)
	}
	before := n.contents(t)
	id, findings := checkState(n.Cfg, false)
	n.expect(t, findings, "ok state DIR/state: installation "+dir.Installation()+", node edge")
	if want := (identity{installation: dir.Installation(), node: "edge"}); id != want {
		t.Errorf("identity %+v, want %+v", id, want)
	}
	if diff := cmp.Diff(before, n.contents(t)); diff != "" {
		t.Errorf("the state changed:\n%s", diff)
	}
}

// goesOn is the end of a warning about a second copy that an agent does not need.
const goesOn = "; the agent goes on without it, and if the state is lost, running pods become foreign: mend it and start the agent again"

func TestCheckState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*testing.T, *located)
		want    []string
	}{
		"none yet": {
			func(*testing.T, *located) {},
			[]string{"ok state DIR/state: not there yet, the first start makes it; node edge"},
		},
		"of a newer agent": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				body := "{\"schema\": 99}\n"
				n.Write(t, "state/schema.json", fmt.Sprintf("sha256:%x\n%s", sha256.Sum256([]byte(body)), body))
			},
			[]string{"fail state DIR/state: it has schema 99, this agent knows up to 1: run the newer agent that wrote it, or start afresh with another state_root"},
		},
		"readable by others": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.Chmod(n.Cfg.Paths.StateRoot, 0o755); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"fail state DIR/state: its mode is 0755, so others than its owner may enter: name a directory of its own as state_root, or chmod 0700 it"},
		},
		"a file": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.Write(t, "state", "")
			},
			[]string{"fail state DIR/state: not a directory, and links are not followed: name another state_root, or remove it"},
		},
		"of a node of another name": {
			func(t *testing.T, n *located) {
				t.Helper()
				if _, _, err := n.openState(t).NodeName("core", nil); err != nil {
					t.Fatal(err)
				}
				n.Cfg.NodeName = "edge"
			},
			[]string{
				"ok state DIR/state: installation ID, node edge",
				`warn state: node_name in agent.toml is "edge", so far this node was "core": static pods get other UIDs and are replaced`,
			},
		},
		"removed from a node whose pods are there": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.RemoveAll(n.Cfg.Paths.StateRoot); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"warn state DIR/state: not there; the next start makes it anew, for installation ID, node edge, as DIR/root/identity says, and takes what runs as admitted"},
		},
		"made in advance": {
			func(t *testing.T, n *located) {
				t.Helper()
				if err := os.Mkdir(n.Cfg.Paths.StateRoot, 0o700); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"ok state DIR/state: not there yet, the first start makes it; node edge"},
		},
		"beside the pods of another installation": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.RemoveAll(n.Cfg.Paths.PodRoot); err != nil {
					t.Fatal(err)
				}
				n.other(t)
			},
			[]string{"fail state DIR/state: it is the state of installation ID1, but DIR/root/identity/identity.json says that the pods there are those of ID2: " +
				"give each agent a state_root and a pod_root of its own; if this is the wrong state, move it away, and the next start makes it anew for the pods that are there; " +
				"if those are gone for good, remove DIR/root/identity"},
		},
		"with a second copy that others may enter": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.Chmod(n.Path("root/identity"), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			[]string{
				"ok state DIR/state: installation ID, node edge",
				"warn state: second copy of the installation ID in DIR/root/identity: its mode is 0755, so others than its owner may enter: " +
					"name a directory of its own as pod_root, or chmod 0700 it" + goesOn,
			},
		},
		"with a second copy that is a file": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.Write(t, "root/identity", "")
			},
			[]string{"fail state DIR/state: second copy of the installation ID in DIR/root/identity: not a directory, and links are not followed: name another pod_root, or remove it"},
		},
		"with a second copy that is corrupt": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				n.Write(t, "root/identity/identity.json", "half")
			},
			[]string{
				"ok state DIR/state: installation ID, node edge",
				"warn state: DIR/root/identity/identity.json is corrupt; it is written anew at the next start, as the state says the same",
			},
		},
		"lost, with a second copy that is corrupt": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.RemoveAll(n.Cfg.Paths.StateRoot); err != nil {
					t.Fatal(err)
				}
				n.Write(t, "root/identity/identity.json", "half")
			},
			[]string{
				"ok state DIR/state: not there yet, the first start makes it; node edge",
				"fail state: DIR/root/identity/identity.json is corrupt; the next start moves it aside, and what no other file says is forgotten: restore it from a backup",
			},
		},
		"with a file in place of its second copy": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.RemoveAll(n.Path("root/identity")); err != nil {
					t.Fatal(err)
				}
				n.Write(t, "root/identity", "")
			},
			[]string{
				"ok state DIR/state: installation ID, node edge",
				"warn state: second copy of the installation ID in DIR/root/identity: not a directory, and links are not followed: name another pod_root, or remove it" + goesOn,
			},
		},
		"with a file in place of pod_root": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				if err := os.RemoveAll(n.Cfg.Paths.PodRoot); err != nil {
					t.Fatal(err)
				}
				n.Write(t, "root", "")
			},
			[]string{
				"ok state DIR/state: installation ID, node edge",
				"fail pod_root DIR/root: stat DIR/root/pods: not a directory: the agent cannot make the directory of the pods",
			},
		},
		"corrupt": {
			func(t *testing.T, n *located) {
				t.Helper()
				n.openState(t)
				n.Write(t, "state/node.json", "half")
			},
			[]string{
				"ok state DIR/state: installation ID, node edge",
				"fail state: DIR/state/node.json is corrupt; the next start moves it aside, and what no other file says is forgotten: restore it from a backup",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			test.prepare(t, n)
			id, findings := checkState(n.Cfg, false)
			for i := range findings {
				findings[i].Message = strings.ReplaceAll(findings[i].Message, "installation "+id.installation, "installation ID")
				for number, unknown := range installations.FindAllString(findings[i].Message, -1) {
					findings[i].Message = strings.ReplaceAll(findings[i].Message, unknown, fmt.Sprint("ID", number+1))
				}
			}
			n.expect(t, findings, test.want...)
			if id.installation == "" || id.node == "" {
				t.Errorf("identity %+v has a part that is empty", id)
			}
		})
	}
}

func TestAStateFileThatIsNoRegularFileIsCorruptAsAtTheStart(t *testing.T) {
	t.Parallel()
	const corrupt = " is corrupt; the next start moves it aside, and what no other file says is forgotten: restore it from a backup"
	for kind, replace := range map[string]func(path string) error{
		"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to a file": func(path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path) },
		"a dangling link":  func(path string) error { return os.Symlink("nowhere", path) },
	} {
		for name, test := range map[string]struct {
			file string
			lost bool
			want []string
		}{
			"identity.json": {"root/identity/identity.json", false, []string{
				"ok state DIR/state: installation ID, node edge",
				"warn state: DIR/root/identity/identity.json is corrupt; it is written anew at the next start, as the state says the same",
			}},
			"identity.json, with the state lost": {"root/identity/identity.json", true, []string{
				"ok state DIR/state: not there yet, the first start makes it; node edge",
				"fail state: DIR/root/identity/identity.json" + corrupt,
			}},
			"installation.json": {"state/installation.json", false, []string{
				"ok state DIR/state: installation ID, node edge",
				"fail state: DIR/state/installation.json" + corrupt,
			}},
			"node.json": {"state/node.json", false, []string{
				"ok state DIR/state: installation ID, node edge",
				"fail state: DIR/state/node.json" + corrupt,
			}},
		} {
			t.Run(name+" as "+kind, func(t *testing.T) {
				t.Parallel()
				n := newSite(t)
				dir := n.openState(t)
				if _, _, err := dir.NodeName("edge", nil); err != nil {
					t.Fatal(err)
				}
				path := n.Path(test.file)
				err := errors.Join(os.Rename(path, filepath.Join(filepath.Dir(path), "elsewhere")), replace(path))
				if test.lost {
					err = errors.Join(err, os.RemoveAll(n.Cfg.Paths.StateRoot))
				}
				if err != nil {
					t.Fatal(err)
				}
				id, findings := checkState(n.Cfg, false)
				for i := range findings {
					findings[i].Message = strings.ReplaceAll(findings[i].Message, "installation "+id.installation, "installation ID")
				}
				n.expect(t, findings, test.want...)
			})
		}
	}
}

func TestWhatCannotBeMadeIsFoundWithoutMakingIt(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.Write(t, "file", "")
	before := n.contents(t)
	if err := roomFor(n.Path("file/identity")); err == nil {
		t.Error("a directory could be made below a file")
	}
	if err := roomFor(n.Path("some/where")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, n.contents(t)); diff != "" {
		t.Errorf("something was made:\n%s", diff)
	}
}

func TestANodeWithoutAUsableNameFails(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.Cfg.NodeName = "No_Name"
	id, findings := checkState(n.Cfg, false)
	if len(findings) != 1 || findings[0].Level != LevelFail || !strings.HasPrefix(findings[0].Message, `name of the node "No_Name": `) || id != noIdentity {
		t.Errorf("findings %+v, identity %+v", findings, id)
	}
}
