package wasm

import "fmt"

// CapabilityNodeRead lets a plugin see the facts about the node.
const CapabilityNodeRead = "node.read"

// readsNode reads a policy's capabilities: whether node.read is among them.
func readsNode(capabilities []string) (reads bool, err error) {
	for _, name := range capabilities {
		if name != CapabilityNodeRead {
			return false, fmt.Errorf("the capability %q is not supported in this version: there is %q", name, CapabilityNodeRead)
		}
		reads = true
	}
	return reads, nil
}
