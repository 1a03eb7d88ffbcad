package gc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// removeDanglingLinks removes the links of the pods' containers to logs that no longer exist. The
// log of a running container may be missing for a moment while it is rotated. Links of other pods
// are not changed, because the directory may be shared with other programs.
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

// runsBehind reports whether the container in the name of a link may be running. The end of a name
// that was too long is missing: then any container of the pod counts.
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

// maxFileName is the longest file name that file systems allow, in bytes.
const maxFileName = 255
