package agent

import (
	"os"
	"testing"
)

func TestCheckDirectories(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		remove string
		begun  bool
		want   []string
	}{
		"before the first start": {want: nil},
		"all there":              {begun: true},
		"pod_root was removed": {"root", true, []string{
			"warn pod_root DIR/root: DIR/root/pods is not there, though an agent has been here; it is made again with the next pod. " +
				"What pods that run keep in volumes there is lost: start them anew",
		}},
		"the identity was removed": {"root/identity", true, []string{
			"warn pod_root DIR/root: DIR/root/identity is not there, though an agent has been here; " +
				"if the state is lost now, what runs is taken for another's: start the agent again, which makes it",
		}},
		"log_root was removed": {"log", true, []string{
			"warn log_root DIR/log: DIR/log/pods is not there, though there are pods; it is made again with the next pod. " +
				"What containers that run write is lost until they start again",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			n.cfg.Paths.LogRoot = n.path("log")
			if test.begun {
				n.openState(t)
				n.write(t, "root/pods/uid/owner.json", "")
				n.write(t, "log/pods/x_y_uid/c/0.log", "")
			}
			if test.remove != "" {
				if err := os.RemoveAll(n.path(test.remove)); err != nil {
					t.Fatal(err)
				}
			}
			n.expect(t, checkDirectories(n.cfg), append([]string{}, test.want...)...)
		})
	}
}

func TestCheckDirectories_logsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.cfg.Paths.LogRoot = n.path("file/log")
	n.write(t, "file", "")
	n.expect(t, checkDirectories(n.cfg), "fail log_root DIR/file/log: stat DIR/file/log/pods: not a directory: the agent cannot make the directory of the logs")
}
