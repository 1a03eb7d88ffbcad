package policy

// pageBytes is a page of a plugin's memory.
const pageBytes = 64 << 10

// checkMemory refuses the policies of a tenant with which its plugins could take
// more memory than they may, one instance of each.
func (l *loader) checkMemory(r *reading) {
	most := l.cfg.memory
	if most <= 0 {
		return
	}
	var sum int64
	for _, doc := range r.documents {
		if doc.Mode == modeOff {
			continue
		}
		if sum += int64(doc.Limits.MemoryPages) * pageBytes; sum > most {
			doc.complain("limits.memory_pages", "with these %d pages the policies of tenant %q may take %d bytes of memory, more than the %d of its policy_memory in agent.toml; lower the limits, or leave policies out",
				doc.Limits.MemoryPages, l.tenant, sum, most)
		}
	}
}
