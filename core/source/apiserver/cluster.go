package apiserver

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cluster records to which cluster the source's pods belong. All calls come from the goroutine of
// Run.
type cluster struct {
	// uid reads a UID from the server that identifies its cluster.
	uid func() (types.UID, error)
	now func() time.Time
	// tried is the time when the UID was last read.
	tried time.Time
	// known is the UID of the pods' cluster, empty if it could not be read yet.
	known types.UID
	// pods are the pods that the source has.
	pods map[types.UID]bool
}

// check fails for a list from another cluster than that of the pods: the list has none of them, and
// the server's cluster is another one. A server that was set up anew must not terminate the node's
// pods.
func (c *cluster) check(list []any) error {
	if c.known == "" || len(c.pods) == 0 {
		return nil
	}
	for _, item := range list {
		if c.pods[item.(*v1.Pod).UID] {
			return nil
		}
	}
	now, err := c.uid()
	if err != nil {
		return fmt.Errorf("it has none of the node's pods, and does not say whether it is still the same cluster: %w", err)
	}
	if now != c.known {
		return fmt.Errorf("it has none of the node's pods, and is another cluster: its service default/kubernetes has the UID %s, that of their cluster %s; "+
			"they run on; if the node is to belong to this cluster, which ends them, restart the agent", now, c.known)
	}
	return nil
}

// replaced records that the source has exactly these pods now.
func (c *cluster) replaced(list []any) {
	clear(c.pods)
	for _, item := range list {
		c.pods[item.(*v1.Pod).UID] = true
	}
}

// learnPeriod is the shortest time between attempts to read the cluster's UID.
const learnPeriod = 10 * time.Second

// learn reads the cluster's UID if it is not known: a server that has just been set up may not have
// the service yet.
func (c *cluster) learn() {
	now := c.now()
	if c.known != "" || !c.tried.IsZero() && now.Sub(c.tried) < learnPeriod {
		return
	}
	c.tried = now
	// If the credentials are not those of a node, the cluster stays unknown.
	c.known, _ = c.uid()
}
