package apiserver

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cluster knows which cluster the pods are of that the source has. All calls come from the goroutine of Run.
type cluster struct {
	// uid reads from the server what tells its cluster from others.
	uid func() (types.UID, error)
	now func() time.Time
	// tried is when it was read last.
	tried time.Time
	// known is the cluster of the pods, empty where that could not be read yet.
	known types.UID
	// pods are those that the source has.
	pods map[types.UID]bool
}

// check fails for a list that is of another cluster than the pods: one that has none of them, from a server whose cluster is
// not theirs. A server that was set up anew has no say about what the node runs.
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

// replaced says that the source has these pods now, and no others.
func (c *cluster) replaced(list []any) {
	clear(c.pods)
	for _, item := range list {
		c.pods[item.(*v1.Pod).UID] = true
	}
	c.learn()
}

// learnPeriod is the least time between attempts to read which cluster the pods are of.
const learnPeriod = 10 * time.Second

// learn reads which cluster the pods are of, if that is not known: a server that has just been made may have no service yet.
func (c *cluster) learn() {
	now := c.now()
	if c.known != "" || !c.tried.IsZero() && now.Sub(c.tried) < learnPeriod {
		return
	}
	c.tried = now
	// Where the credentials are not those of a node the cluster stays unknown.
	c.known, _ = c.uid()
}
