package preflight

import (
	"os"
	"testing"
)

func TestCheckDirectories(t *testing.T) {
	t.Parallel()
	const (
		noPods = "warn pod_root DIR/root: DIR/root/pods is not there, though an agent has been here; it is made again with the next pod. " +
			"What pods that run keep in volumes there is lost: start them anew"
		noIdentity = "warn pod_root DIR/root: DIR/root/identity is not there, though an agent has been here; " +
			"if the state is lost now, what runs is taken for another's: start the agent again, which makes it"
		noLogsEither = "warn log_root DIR/log: DIR/log/pods is not there either; it is made again with the next pod. " +
			"What containers that run write is lost until they start again"
	)
	for name, test := range map[string]struct {
		remove      []string
		begun, runs bool
		want        []string
	}{
		"before the first start":   {want: nil},
		"all there":                {begun: true},
		"pod_root was removed":     {[]string{"root"}, true, false, []string{noPods, noIdentity}},
		"the pods were removed":    {[]string{"root/pods"}, true, false, []string{noPods}},
		"the pods and logs":        {[]string{"root/pods", "log/pods"}, true, false, []string{noPods, noLogsEither}},
		"pod_root and log_root":    {[]string{"root", "log"}, true, false, []string{noPods, noIdentity, noLogsEither}},
		"pods and state":           {[]string{"root/pods", "state"}, true, false, []string{noPods}},
		"all below an agent":       {[]string{"root", "state", "log"}, true, true, []string{noPods, noLogsEither}},
		"state_root was removed":   {[]string{"state"}, true, true, nil},
		"the identity was removed": {[]string{"root/identity"}, true, false, []string{noIdentity}},
		"log_root was removed": {[]string{"log"}, true, false, []string{
			"warn log_root DIR/log: DIR/log/pods is not there, though there are pods; it is made again with the next pod. " +
				"What containers that run write is lost until they start again",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			n.Cfg.Paths.LogRoot = n.Path("log")
			if test.begun {
				n.openState(t)
				n.Write(t, "root/pods/uid/owner.json", "")
				n.Write(t, "log/pods/x_y_uid/c/0.log", "")
			}
			for _, path := range test.remove {
				if err := os.RemoveAll(n.Path(path)); err != nil {
					t.Fatal(err)
				}
			}
			n.expect(t, checkDirectories(n.Cfg, test.runs), append([]string{}, test.want...)...)
		})
	}
}

func TestCheckDirectories_logsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	n := newSite(t)
	n.Cfg.Paths.LogRoot = n.Path("file/log")
	n.Write(t, "file", "")
	n.expect(t, checkDirectories(n.Cfg, false), "fail log_root DIR/file/log: stat DIR/file/log/pods: not a directory: the agent cannot make the directory of the logs")
}
