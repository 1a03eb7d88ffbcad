package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// digest identifies the content of the set, 64 hexadecimal digits: the paths
// and digests of its documents, modules and pods.
func (r *reading) digest() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(h, "%q %s\n", path, r.files[path].sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// content identifies the content together with what could not be read of it,
// and with all else that decides whether it is refused.
func (r *reading) content(c *Config) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%v\n%q %t %d %t %d", r.digest(), r.err(), c.Version, c.AllowUnpinned, c.moduleBytes(), c.Trust.Required, c.memory))
	return hex.EncodeToString(sum[:])
}
