package wasm

import "fmt"

// The capabilities of policies.
const (
	// CapabilityNodeRead lets a plugin see the facts about the node.
	CapabilityNodeRead = "node.read"
	// CapabilityReferencesRead lets a plugin see what is known of the ConfigMaps
	// and Secrets that a pod names. Their values are never shown.
	CapabilityReferencesRead = "references.read"
)

// Capabilities lists all capabilities.
var Capabilities = []string{CapabilityNodeRead, CapabilityReferencesRead}

// capabilities are the capabilities of one policy.
type capabilities struct{ node, references bool }

// readCapabilities reads a policy's capabilities.
func readCapabilities(names []string) (c capabilities, err error) {
	for _, name := range names {
		switch name {
		case CapabilityNodeRead:
			c.node = true
		case CapabilityReferencesRead:
			c.references = true
		default:
			return capabilities{}, fmt.Errorf("the capability %q is not supported in this version: there are %q", name, Capabilities)
		}
	}
	return c, nil
}
