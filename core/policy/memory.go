package policy

import "fmt"

// pageBytes is a page of a plugin's memory.
const pageBytes = 64 << 10

// decodedFactor is how many bytes of memory a byte of a document may take once it is
// decoded: small tables take some 60, short conditions some 240.
const decodedFactor = 256

// roomFor refuses documents of a tenant that would take more memory than its plugins
// may: they stay decoded for as long as they are in force.
func (c *Config) roomFor(text int64) error {
	if most := c.memory / decodedFactor; most > 0 && text > most {
		return fmt.Errorf("with it the documents have %d bytes together, more than the %d for which policy_memory in agent.toml has room; make their settings smaller, or leave policies out", text, most)
	}
	return nil
}

// checkMemory refuses the policies of a tenant with which its plugins could take
// more memory than they may, one instance of each.
func (l *loader) checkMemory(r *reading) {
	most := l.cfg.memory
	if most <= 0 {
		return
	}
	var sum int64
	for _, doc := range r.documents {
		if doc.Mode == modeOff || doc.isGroup() {
			continue
		}
		if sum += int64(doc.Limits.MemoryPages) * pageBytes; sum > most {
			doc.complain("limits.memory_pages", "with these %d pages the policies of tenant %q may take %d bytes of memory, more than the %d of its policy_memory in agent.toml; lower the limits, or leave policies out",
				doc.Limits.MemoryPages, l.tenant, sum, most)
		}
	}
}
