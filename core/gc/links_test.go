package gc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALinkToALogThatIsNoMoreGoesUnlessItsContainerRuns(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 251-len("cut-")) + "cut-" // the name is so long that the container's ID is cut off
	for name, tt := range map[string]struct {
		link, dir string
		there     bool // the log
		goes      bool
	}{
		"a dead container's":                   {link: "web_shop_main-c1", dir: "shop_web_u", goes: true},
		"one that is not known any more":       {link: "web_shop_main-c0", dir: "shop_web_u", goes: true},
		"a running container's, being rotated": {link: "web_shop_main-c2", dir: "shop_web_u"},
		"perhaps a running container's":        {link: long, dir: "shop_web_u"},
		"one whose log is there":               {link: "web_shop_main-c1", dir: "shop_web_u", there: true},
		"one of a pod that is another's":       {link: "web_shop_main-c1", dir: "shop_web_foreign"},
		"one that leads elsewhere":             {link: "web_shop_main-c1", dir: "../elsewhere"},
		"one of a pod of a similar name":       {link: "web_shop_main-c1", dir: "shop_web_u2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode()
			n.add("u", []string{"c2 main running s", "c1 main exited s"}, []string{"s ready"})
			c, _ := newCollector(t, n)
			root := c.cfg.Layout.LogRoot
			target := filepath.Join(root, "pods") + "/" + tt.dir + "/main/0.log"
			if tt.there {
				touch(t, target)
			}
			link := filepath.Join(root, "containers", tt.link+".log")
			check(t, os.MkdirAll(filepath.Dir(link), 0o700))
			check(t, os.Symlink(target, link))
			once(t, c)
			if _, err := os.Lstat(link); errors.Is(err, os.ErrNotExist) != tt.goes {
				t.Errorf("%v; want it gone: %v", err, tt.goes)
			}
		})
	}
}
