package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestDocumentsAreTheVisibleTOMLFilesOfTheDirectory(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	for _, name := range []string{
		"b.toml", "a.toml", ".hidden.toml", ".#a.toml", "#a.toml#", "#a.toml", "a.toml~", "a.toml.bak", ".a.toml.swp", "4913",
		"a.wasm", "a.TOML", "toml", "below/c.toml",
	} {
		d.Write(name, "x")
	}
	dir, err := OpenDirectory(d.Dir)
	policytest.Must(t, err)
	defer dir.Close()
	names, err := dir.Documents()
	policytest.Must(t, err)
	if diff := cmp.Diff([]string{"a.toml", "b.toml"}, names); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestADirectoryThatCannotBe(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Write("file", "")
	policytest.Must(t, syscall.Mkfifo(filepath.Join(d.Dir, "pipe"), 0o600))
	for name, want := range map[string]string{
		"missing": "the policy directory DIR/missing is missing; make it, or take it out of agent.toml to have no policies",
		"file":    "DIR/file is no directory; name the directory of the policies",
		"pipe":    "DIR/pipe is no directory; name the directory of the policies",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := OpenDirectory(filepath.Join(d.Dir, name))
			if got := policytest.InDir(err, d.Dir); got != want {
				t.Errorf("error %q, want %q", got, want)
			}
		})
	}
}

func TestAFileIsReadUnlessItIs(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Write("real/file", "content")
	d.Write("large", strings.Repeat("x", 101))
	outside := filepath.Join(t.TempDir(), "secret")
	policytest.Must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	for name, target := range map[string]string{"link": "real/file", "out": outside, "dangling": "nowhere", "dirlink": "real", "real/up": ".."} {
		policytest.Must(t, os.Symlink(target, filepath.Join(d.Dir, name)))
	}
	policytest.Must(t, syscall.Mkfifo(filepath.Join(d.Dir, "pipe"), 0o600))

	const link = "a symbolic link, and links are not followed; put what it leads to in its place"
	for name, test := range map[string]struct{ path, want string }{
		"a link":                     {"link", link},
		"a link to elsewhere":        {"out", link},
		"a link to nowhere":          {"dangling", link},
		"in a directory that is one": {"dirlink/file", link},
		"beyond a link back":         {"real/up/large", link},
		"a directory":                {"real", "not a regular file; remove it, or put one in its place"},
		"a pipe":                     {"pipe", "not a regular file; remove it, or put one in its place"},
		"below a file":               {"large/file", "not a directory; remove it, or put one in its place"},
		"missing":                    {"none", "no such file or directory"},
		"in a directory that is":     {"none/file", "no such file or directory"},
		"too large":                  {"large", "101 bytes long, more than the 100 it may have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := OpenDirectory(d.Dir)
			policytest.Must(t, err)
			defer dir.Close()
			data, steady, err := dir.read(test.path, 100)
			if err == nil || err.Error() != test.want || data != nil || !steady {
				t.Errorf("read: %q, steady %t, error %v, want %s", data, steady, err, test.want)
			}
		})
	}
	dir, err := OpenDirectory(d.Dir)
	policytest.Must(t, err)
	t.Cleanup(dir.Close)
	if data, steady, err := dir.read("real/file", 7); string(data) != "content" || !steady || err != nil {
		t.Errorf("a plain file: %q, steady %t, error %v", data, steady, err)
	}
}

func TestADirectoryMayItselfBeReachedThroughALink(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow")
	link := filepath.Join(t.TempDir(), "policies")
	policytest.Must(t, os.Symlink(d.Dir, link))
	if r := Read(Options{Dir: link}); r.Err() != nil || len(r.Documents) != 1 {
		t.Errorf("read: %d documents, error %v", len(r.Documents), r.Err())
	}
}

func TestAFileThatChangesWhileItIsReadIsNotSteady(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	text := strings.Repeat("x", 1<<20)
	d.Write("file", text)
	f, err := os.OpenFile(filepath.Join(d.Dir, "file"), os.O_WRONLY, 0)
	policytest.Must(t, err)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		defer f.Close()
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := f.WriteAt([]byte(text), 0); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	defer writer.Wait()
	defer close(stop)
	dir, err := OpenDirectory(d.Dir)
	policytest.Must(t, err)
	defer dir.Close()
	for began := time.Now(); ; {
		_, steady, err := dir.read("file", 1<<20)
		policytest.Must(t, err)
		if !steady {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("for 10 s no change was seen")
		}
	}
}

func TestALinkThatComesBetweenTheLookAndTheReadIsNotFollowed(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{"file": "file", "dir/file": "dir"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Write("real/"+name, "public")
			d.Write("elsewhere/"+name, "secret")
			policytest.Must(t, os.Symlink("elsewhere/"+part, filepath.Join(d.Dir, "link")))
			// The name is in turn the real file and a link.
			place, own := filepath.Join(d.Dir, part), filepath.Join(d.Dir, "real", part)
			policytest.Must(t, os.Rename(own, place))
			stop := make(chan struct{})
			var swapper sync.WaitGroup
			swapper.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if err := unix.Renameat2(unix.AT_FDCWD, place, unix.AT_FDCWD, filepath.Join(d.Dir, "link"), unix.RENAME_EXCHANGE); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
			defer swapper.Wait()
			defer close(stop)
			dir, err := OpenDirectory(d.Dir)
			policytest.Must(t, err)
			defer dir.Close()
			for began := time.Now(); time.Since(began) < 300*time.Millisecond; {
				if data, _, _ := dir.read(name, 100); string(data) == "secret" {
					t.Fatal("a link was followed")
				}
			}
		})
	}
}
