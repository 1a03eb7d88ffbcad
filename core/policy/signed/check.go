package signed

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// maxShown is how many bytes of a path a message contains.
const maxShown = 200

// Check compares the manifest with the files of the set. sums maps the path of each file to
// its SHA-256 in hex. Exactly the files that the manifest lists must be there, each with
// its digest. The error has every reason, one per line, ordered by path.
func (m *Manifest) Check(sums map[string]string) error {
	reasons := map[string]error{}
	listed := make(map[string]bool, len(m.Files))
	for _, f := range m.Files {
		listed[f.Path] = true
		switch found, ok := sums[f.Path]; {
		case !ok:
			reasons[f.Path] = fmt.Errorf("%s: %s lists it, but it is not in the set; put it back with what names it, or sign the set anew", printable.Short(f.Path, maxShown), ManifestName)
		case !strings.EqualFold(found, f.SHA256):
			reasons[f.Path] = fmt.Errorf("%s: its digest is %.80s, but %s lists %.80s; put back the file that was signed, or sign the set anew", printable.Short(f.Path, maxShown), found, ManifestName, f.SHA256)
		}
	}
	for path := range sums {
		if !listed[path] {
			reasons[path] = fmt.Errorf("%s: %s does not list it; remove it, or sign the set anew", printable.Short(path, maxShown), ManifestName)
		}
	}
	var all []error
	for _, path := range slices.Sorted(maps.Keys(reasons)) {
		all = append(all, reasons[path])
	}
	return errors.Join(all...)
}
