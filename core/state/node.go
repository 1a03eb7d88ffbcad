package state

import (
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state/durable"
)

// clusterNodeFile has the Node object as the cluster last had it.
const clusterNodeFile = "cluster-node.json"

// NodeMemory stores the Node object of the cluster.
type NodeMemory struct{ dir *Dir }

// NodeMemory returns the store of the Node object.
func (d *Dir) NodeMemory() NodeMemory { return NodeMemory{d} }

// Load returns the stored Node object, nil if there is none or it is corrupt. The error is the
// reason why it cannot be read.
func (m NodeMemory) Load() (*v1.Node, error) {
	n := &v1.Node{}
	found, err := m.dir.load(clusterNodeFile, n)
	if err != nil || !found {
		return nil, err
	}
	return n, nil
}

// Store stores the Node object. When it returns nil, the object is on the disk.
func (m NodeMemory) Store(n *v1.Node) error { return m.dir.store(clusterNodeFile, n) }

// clusterFile has what identifies the cluster of the state.
const clusterFile = "cluster.json"

type cluster struct {
	// Authorities are the certificate authorities of the API server.
	Authorities []string `json:"authorities"`
}

// Authorities returns the certificate authorities by which the node knows its cluster, none if it was in
// no cluster yet.
func (d *Dir) Authorities() ([]string, error) {
	var stored cluster
	_, err := d.load(clusterFile, &stored)
	return stored.Authorities, err
}

// StoreAuthorities stores the certificate authorities by which the node knows its cluster.
func (d *Dir) StoreAuthorities(authorities []string) error {
	return d.store(clusterFile, cluster{Authorities: authorities})
}

// LeaveCluster removes what a cluster has sent: the documents of a source, the objects that pods name, and
// the Node object. Files that cannot be read are left: nothing is restored from them.
func (d *Dir) LeaveCluster(source string) error {
	records, _ := d.Documents().LoadAll()
	var documents []DocumentID
	for i := range records {
		if records[i].Source == source {
			documents = append(documents, DocumentID{Source: source, ID: records[i].ID})
		}
	}
	copies, _ := d.Objects().Load()
	var keys []string
	for i := range copies {
		keys = append(keys, copies[i].Key)
	}
	return errors.Join(d.Documents().Apply(nil, documents), d.Objects().Apply(nil, keys), durable.Remove(d.fs, d.path, clusterNodeFile))
}

// shutdownFile has the times of the last shutdown of the machine.
const shutdownFile = "shutdown.json"

// Shutdown are the times of a shutdown of the machine for which pods were terminated.
type Shutdown struct {
	// Began is when the first pods were terminated, zero if there was no shutdown. Ended is when the
	// agent let the machine shut down, zero if it did not come to that.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// Shutdowns stores the last shutdown.
type Shutdowns struct{ dir *Dir }

// Shutdowns returns the store of the last shutdown.
func (d *Dir) Shutdowns() Shutdowns { return Shutdowns{d} }

// Load returns the last shutdown, the zero value if there was none or its file is corrupt. The error
// is the reason why it cannot be read.
func (s Shutdowns) Load() (Shutdown, error) {
	var last Shutdown
	if _, err := s.dir.load(shutdownFile, &last); err != nil {
		return Shutdown{}, err
	}
	return last, nil
}

// Store stores the last shutdown. When it returns nil, it is on the disk.
func (s Shutdowns) Store(last Shutdown) error { return s.dir.store(shutdownFile, last) }

// renewalFile has the time of the last renewal of the node's lease.
const renewalFile = "renewal.json"

// Renewals stores when the node's lease was last renewed.
type Renewals struct{ dir *Dir }

// Renewals returns the store of that time.
func (d *Dir) Renewals() Renewals { return Renewals{d} }

// Load returns the stored time, zero if there is none.
func (r Renewals) Load() (time.Time, error) {
	var at time.Time
	_, err := r.dir.load(renewalFile, &at)
	return at, err
}

// Store stores the time. When it returns nil, it is on the disk.
func (r Renewals) Store(at time.Time) error { return r.dir.store(renewalFile, at) }

// adoptedFile has the UIDs of static pods that a kubelet started.
const adoptedFile = "adopted.json"

// Adopted stores the UIDs of static pods that a kubelet started, by those of their documents.
type Adopted struct{ dir *Dir }

// Adopted returns the store of UIDs that a kubelet gave.
func (d *Dir) Adopted() Adopted { return Adopted{d} }

// Load returns the UIDs, nil if there are none.
func (a Adopted) Load() (map[types.UID]types.UID, error) {
	var uids map[types.UID]types.UID
	_, err := a.dir.load(adoptedFile, &uids)
	return uids, err
}

// Store stores all UIDs. When it returns nil, they are on the disk.
func (a Adopted) Store(uids map[types.UID]types.UID) error { return a.dir.store(adoptedFile, uids) }
