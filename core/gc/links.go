package gc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// removeDanglingLinks removes links of the pods' containers to logs that are no
// more. While a container runs its log may be missing for the moment in which it
// is rotated. Links of pods that are not among these are left alone: the directory
// may be shared with others.
func (c *Collector) removeDanglingLinks(pods []status.ObservedPod) error {
	byUID := make(map[types.UID]*status.ObservedPod, len(pods))
	for i := range pods {
		byUID[pods[i].UID] = &pods[i]
	}
	var errs []error
	err := c.eachLink(func(link, target string) error {
		p := byUID[c.logsOf(target)]
		if p == nil || runsBehind(p, link) {
			return nil
		}
		if _, err := os.Lstat(target); errors.Is(err, os.ErrNotExist) {
			errs = append(errs, removeLink(link))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// runsBehind reports whether the container that a link is named for may run. The
// end of a name that is too long is missing: then any of the pod's counts.
func runsBehind(p *status.ObservedPod, link string) bool {
	file := filepath.Base(link)
	name := strings.TrimSuffix(file, ".log")
	id := name[strings.LastIndexByte(name, '-')+1:]
	for i := range p.Containers {
		if c := &p.Containers[i]; c.State == status.StateRunning && (c.ID == id || len(file) >= maxFileName) {
			return true
		}
	}
	return false
}

// maxFileName is the longest file name a file system takes, in bytes.
const maxFileName = 255
