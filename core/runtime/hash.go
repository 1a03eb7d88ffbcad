package runtime

import (
	"fmt"
	"hash/fnv"
	"io"

	v1 "k8s.io/api/core/v1"
)

// ContainerHash is the definition hash of a container, over its name and
// image, as 8 hex digits. A running container with another hash than its
// definition's is replaced, so the algorithm must never change: an upgrade
// would restart every container.
func ContainerHash(c *v1.Container) string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, c.Name+"\x00"+c.Image)
	return fmt.Sprintf("%08x", h.Sum32())
}
