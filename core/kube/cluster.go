package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// clusterTimeout is the time limit for reading which cluster the server belongs to.
const clusterTimeout = 10 * time.Second

// cluster is what identifies the state behind a server.
type cluster struct {
	// uid is the UID of the service "kubernetes" in the namespace default, which every API server
	// stores and every node may read. It is empty if a new server has not stored the service yet.
	uid types.UID
	// version is the newest resourceVersion. It is the same for all resources of a server, and lower
	// than before if the server's storage was restored from a backup.
	version uint64
}

// ClusterUID returns an ID of the server's cluster: the UID of the service "kubernetes" in the
// namespace default.
func (c *Client) ClusterUID(ctx context.Context) (types.UID, error) {
	now, err := c.cluster(ctx)
	if err == nil && now.uid == "" {
		err = errors.New("it has no service default/kubernetes")
	}
	if err != nil {
		return "", c.Explain(err)
	}
	return now.uid, nil
}

// cluster reads which cluster the server belongs to. A list of one object has both values.
func (c *Client) cluster(ctx context.Context) (cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	text, err := c.Request(http.MethodGet, v1.SchemeGroupVersion).Namespace("default").Resource("services").
		Param("fieldSelector", "metadata.name=kubernetes").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return cluster{}, err
	}
	type meta struct {
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	}
	var list struct {
		Metadata meta `json:"metadata"`
		Items    []struct {
			Metadata meta `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return cluster{}, fmt.Errorf("its service default/kubernetes: %w", err)
	}
	var now cluster
	for _, item := range list.Items {
		now.uid = item.Metadata.UID
	}
	now.version = number(list.Metadata.ResourceVersion)
	return now, nil
}

// clusters keeps the cluster that a server belongs to, for all calls of Follow, so that after an
// outage one request answers for all of them.
type clusters struct {
	mu   sync.Mutex
	read time.Time
	last cluster
}

// after returns the cluster as it was read at some time after since.
func (k *clusters) after(ctx context.Context, c *Client, since time.Time) (cluster, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read.After(since) {
		return k.last, nil
	}
	began := time.Now()
	now, err := c.cluster(ctx)
	if err != nil {
		return cluster{}, err
	}
	k.read, k.last = began, now
	return now, nil
}

// origin decides for one follower whether its last resourceVersion still means something to the
// server. A server answers a watch from a version that it has not reached yet with silence, so a
// restored server would leave the node with the state before the restore, and another cluster's
// server would later add its events to it.
type origin struct {
	// uid is the UID of the cluster of the last list. Only the goroutine of the reflector uses it.
	uid types.UID

	mu sync.Mutex
	// listed is true from a list until the next check. lost is when contact was last lost, zero if
	// it was not since the last list or check.
	listed bool
	lost   time.Time
}

// setListed records that the last resourceVersion is from the server that answers now.
func (o *origin) setListed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listed, o.lost = true, time.Time{}
}

// setLost records that contact was lost: the server that answers next may be another one.
func (o *origin) setLost() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listed, o.lost = false, time.Now()
}

func (o *origin) take() (listed bool, lost time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	listed, lost = o.listed, o.lost
	o.listed, o.lost = false, time.Time{}
	return listed, lost
}

// check returns an error that makes the reflector list again if the server is not in the state
// after version, and another error if the server does not answer.
func (o *origin) check(ctx context.Context, c *Client, version string) error {
	listed, lost := o.take()
	if listed {
		// Without an answer, the next check compares only the versions.
		now, _ := c.clusters.after(ctx, c, time.Time{})
		o.uid = now.uid
	}
	if lost.IsZero() {
		return nil
	}
	now, err := c.clusters.after(ctx, c, lost)
	switch last := number(version); {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		// The credentials are not a node's, or the server is no API server of Kubernetes.
	case err != nil:
		o.setLost()
		return err
	case now.version < last:
		return apierrors.NewResourceExpired(fmt.Sprintf("the server is at resourceVersion %d, before %d: its storage was restored", now.version, last))
	case o.uid != "" && now.uid != o.uid:
		return apierrors.NewResourceExpired("the server is that of another cluster")
	}
	return nil
}

// number returns a resourceVersion as a number, 0 if it is none: servers promise numbers only since
// Kubernetes 1.35.
func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64)
	return n
}
