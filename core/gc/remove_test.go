package gc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// everything lists the calls that remove the pod "u" of goneNode, in order.
var everything = []string{
	"container c2", "container c1", "stop s2", "sandbox s2", "stop s1", "sandbox s1",
	"volumes u", "cgroup u", "directory u",
}

func goneNode() *fakeNode {
	n := newNode()
	n.add("u", []string{"c2 main exited s2", "c1 main exited s1"}, []string{"s2 ready", "s1 over"})
	n.removable["u"] = "files"
	return n
}

func TestAGonePodGoesWhollyItsDirectoryLast(t *testing.T) {
	t.Parallel()
	n := goneNode()
	n.add("living", []string{"c3 main running s3"}, []string{"s3 ready"})
	c, _ := newCollector(t, n)
	once(t, c)
	if diff := cmp.Diff(everything, n.done()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	once(t, c)
	if got := len(n.done()); got != len(everything) {
		t.Errorf("%d calls after a second pass", got)
	}
}

func TestAGonePodTakesItsLogsAlong(t *testing.T) {
	t.Parallel()
	c, _ := newCollector(t, goneNode())
	root := c.cfg.Layout.LogRoot
	log := touch(t, filepath.Join(root, "pods", "shop_web_u", "main", "0.log"))
	touch(t, filepath.Join(root, "pods", "shop_web_u", "main", "0.log.20260101-000000"))
	other := touch(t, filepath.Join(root, "pods", "shop_web_uu", "main", "0.log"))
	outside := touch(t, filepath.Join(root, "outside", "keep"))
	check(t, os.Symlink(filepath.Dir(outside), filepath.Join(root, "pods", "shop_web_u", "planted")))
	links := filepath.Join(root, "containers")
	file := touch(t, filepath.Join(links, "file.log"))
	for name, target := range map[string]string{"ours.log": log, "dangling.log": log + ".gone", "other.log": other, "foreign.log": "/elsewhere"} {
		check(t, os.Symlink(target, filepath.Join(links, name)))
	}
	once(t, c)

	for _, path := range []string{filepath.Join(root, "pods", "shop_web_u"), filepath.Join(links, "ours.log"), filepath.Join(links, "dangling.log")} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there (%v)", path, err)
		}
	}
	for _, path := range []string{other, outside, file, filepath.Join(links, "other.log"), filepath.Join(links, "foreign.log")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestWhateverThePodWasCalledItsLogsGo(t *testing.T) {
	t.Parallel()
	n := goneNode()
	c, _ := newCollector(t, n)
	root := c.cfg.Layout.LogRoot
	former := touch(t, filepath.Join(root, "pods", "shop_former_u", "main", "0.log"))
	link := filepath.Join(root, "containers", "former_shop_main-c1.log")
	check(t, os.MkdirAll(filepath.Dir(link), 0o700))
	check(t, os.Symlink(former, link))
	stays := []string{
		touch(t, filepath.Join(root, "pods", "u", "main", "0.log")),
		touch(t, filepath.Join(root, "pods", "shop_u", "0.log")),
		touch(t, filepath.Join(root, "pods", "shop_web_u_u", "0.log")),
	}
	once(t, c)
	for _, path := range []string{filepath.Dir(filepath.Dir(former)), link} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there (%v)", path, err)
		}
	}
	for _, path := range stays {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestWhatTheAgentHasNotMadeStays(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.owners["backup"] = unmarked
	n.removable["backup"] = ""
	c, log := newCollector(t, n)
	for range 3 {
		once(t, c)
	}
	if len(n.done()) != 0 {
		t.Errorf("done: %v", n.done())
	}
	if log.lines("remove it by hand") != 1 {
		t.Errorf("want it said once: %s", &log.buf)
	}

	n = goneNode()
	n.owners["u"] = unmarked // the runtime still lists the pod as one of this agent
	c, _ = newCollector(t, n)
	once(t, c)
	if diff := cmp.Diff(everything, n.done()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnErrorEndsThePodsRemovalAndTheNextPassGoesOn(t *testing.T) {
	t.Parallel()
	for at, call := range everything {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			n := goneNode()
			n.fail[call] = true
			c, log := newCollector(t, n)
			once(t, c)
			if diff := cmp.Diff(everything[:at], n.done(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if log.lines(call+" failed") != 1 {
				t.Errorf("not logged: %s", &log.buf)
			}
			n.fail[call] = false
			once(t, c)
			if len(n.pods)+len(n.owners)+len(n.cgroups) != 0 {
				t.Errorf("left: %v, %v, %v", n.pods, n.owners, n.cgroups)
			}
		})
	}
}

func TestWhatRunsIsLeftToAWorker(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.add("u", []string{"c2 main running s1", "c1 main exited s1"}, []string{"s1 ready"})
	n.removable["u"] = "files"
	c, _ := newCollector(t, n)
	once(t, c)
	if len(n.done()) != 0 {
		t.Errorf("done: %v", n.done())
	}
}

func TestAPodThatIsWantedLosesNothing(t *testing.T) {
	t.Parallel()
	n := goneNode()
	delete(n.removable, "u")
	c, _ := newCollector(t, n)
	once(t, c)
	// c2 stays: it is within the limit. The container of its sandbox would be a second dead one.
	if diff := cmp.Diff([]string{"container c1", "stop s1", "sandbox s1"}, n.done()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLeftoversTheRuntimeDoesNotKnow(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.own("dir", "http")
	n.owners["torn"] = nil
	n.cgroups["lone"] = true
	n.removable["dir"], n.removable["torn"], n.removable["lone"] = "http", "", ""
	c, log := newCollector(t, n)
	logs := touch(t, filepath.Join(c.cfg.Layout.LogRoot, "pods", "shop_web_dir", "main", "0.log"))
	torn := touch(t, filepath.Join(c.cfg.Layout.LogRoot, "pods", "shop_web_torn", "main", "0.log"))
	once(t, c)
	got := n.done()
	slices.Sort(got)
	want := []string{
		"cgroup dir", "cgroup lone", "cgroup torn", "directory dir", "directory lone",
		"directory torn", "volumes dir", "volumes lone", "volumes torn",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, logs := range []string{logs, torn} {
		if _, err := os.Stat(logs); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there (%v)", logs, err)
		}
	}
	if log.buf.Len() > 0 {
		t.Errorf("said of it: %s", &log.buf)
	}
}

func TestWhoseAPodIsTheSandboxSaysFirst(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.add("u", nil, []string{"s ready"})
	n.own("u", "other")
	n.add("bare", nil, []string{"t ready"})
	n.pods["bare"].Sandboxes[0].Annotations = nil
	c, _ := newCollector(t, n)
	once(t, c)
	slices.Sort(n.asked)
	if diff := cmp.Diff([]string{"bare of files", "u of files"}, n.asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWithoutTheRuntimesListNothingIsRemoved(t *testing.T) {
	t.Parallel()
	n := goneNode()
	n.fail["list"] = true
	c, _ := newCollector(t, n)
	once(t, c)
	if len(n.done())+len(n.asked) != 0 {
		t.Errorf("done: %v, asked: %v", n.done(), n.asked)
	}
}

func TestWithoutTheListOfDirectoriesTheRestGoesOn(t *testing.T) {
	t.Parallel()
	n := goneNode()
	n.fail["list directories"] = true
	c, log := newCollector(t, n)
	once(t, c)
	if diff := cmp.Diff(everything, n.done()); diff != "" || log.lines("pod directories cannot be listed") != 1 {
		t.Errorf("(-want +got)\n%s\n%s", diff, &log.buf)
	}
}
