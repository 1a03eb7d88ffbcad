package state

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

type installation struct {
	ID string `json:"id"`
}

var errNoInstallation = errors.New("it holds no installation ID")

// isInstallation reports whether text can be an installation ID.
func isInstallation(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*installationBytes
}

// installationBytes is the number of random bytes of an installation ID.
const installationBytes = 16

// identify reads the installation ID from the state, else from the second copy, or makes one. If
// the two differ, it fails and changes neither. If only the state has the ID and the second copy
// cannot be used, it continues without the copy.
func (d *Dir) identify() error {
	var stored installation
	found, err := d.load(installationFile, &stored)
	if err == nil && found && !isInstallation(stored.ID) {
		found, err = false, d.quarantine(installationFile, errNoInstallation)
	}
	if err != nil {
		return err
	}
	copied, fault := d.copy.said(), d.copy.broken()
	switch {
	case found && copied.Installation != "" && copied.Installation != stored.ID:
		return d.copy.differs(stored.ID)
	case found && fault != nil:
		d.log.Warn("the agent runs without a second copy of the installation ID; if the state is lost, running pods become foreign: mend it and start the agent again", "err", fault)
	case found:
	case fault != nil:
		return fault
	case copied.Installation != "":
		stored.ID = copied.Installation
		d.log.Warn("the state has no installation ID; its second copy is used", "installation", stored.ID, "copy", d.copy.files.path)
	default:
		var id [installationBytes]byte
		rand.Read(id[:]) // never fails
		stored.ID, d.made = hex.EncodeToString(id[:]), true
		d.log.Info("new installation: what runs under another installation ID is foreign to it", "installation", stored.ID)
	}
	if !found {
		if err := d.store(installationFile, stored); err != nil {
			return err
		}
	}
	d.installation = stored.ID
	d.copy.keep(identity{Installation: stored.ID, Node: copied.Node})
	return nil
}

type node struct {
	Name string `json:"name"`
}

// NodeName returns the name of this node: the configured name, else the stored one, else its host
// name (lower case, as a kubelet does). differs is a message for users if the host name or the
// stored name is not the returned name, else empty.
func (d *Dir) NodeName(configured string, hostname func() (string, error)) (name, differs string, err error) {
	var stored node
	found, err := d.load(nodeFile, &stored)
	if err != nil {
		return "", "", err
	}
	if !found {
		stored.Name = d.copy.said().Node
	}
	name = configured
	switch {
	case configured != "" && stored.Name != "" && stored.Name != configured:
		differs = fmt.Sprintf("node_name in agent.toml is %q, so far this node was %q: static pods get other UIDs and are replaced", configured, stored.Name)
	case configured == "":
		host, hostErr := hostname()
		host = strings.ToLower(strings.TrimSpace(host))
		switch {
		case stored.Name == "" && hostErr != nil:
			return "", "", fmt.Errorf("name of the node: %w; set node_name in agent.toml", hostErr)
		case stored.Name == "":
			name = host
		default:
			name = stored.Name
			if hostErr == nil && host != name {
				differs = fmt.Sprintf("the host is called %q now, this node stays %q: set node_name in agent.toml to rename it", host, name)
			}
		}
	}
	if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
		return "", "", fmt.Errorf("name of the node %q: %s; set node_name in agent.toml", name, strings.Join(faults, "; "))
	}
	if !found || name != stored.Name {
		if err := d.store(nodeFile, node{Name: name}); err != nil {
			return name, differs, err
		}
	}
	d.copy.keep(identity{Installation: d.installation, Node: name})
	return name, differs, nil
}
