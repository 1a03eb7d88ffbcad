package state

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

type installation struct {
	ID string `json:"id"`
}

// identify reads the installation ID, or makes one.
func (d *Dir) identify() error {
	var stored installation
	found, err := d.load(installationFile, &stored)
	if err != nil {
		return err
	}
	if !found {
		var id [16]byte
		rand.Read(id[:]) // never fails
		stored.ID = hex.EncodeToString(id[:])
		if err := d.store(installationFile, stored); err != nil {
			return err
		}
		d.log.Info("new installation: what runs under another installation ID is foreign to it", "installation", stored.ID)
	}
	d.installation = stored.ID
	return nil
}

type node struct {
	Name string `json:"name"`
}

// NodeName decides what this node is called: as configured, else as remembered
// from before, else by its host name (lower case, as a kubelet does). differs
// is not empty where the host's name, or the one remembered, is another: it
// says so, for people.
func (d *Dir) NodeName(configured string, hostname func() (string, error)) (name, differs string, err error) {
	var stored node
	if _, err := d.load(nodeFile, &stored); err != nil {
		return "", "", err
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
	if name == stored.Name {
		return name, differs, nil
	}
	return name, differs, d.store(nodeFile, node{Name: name})
}
