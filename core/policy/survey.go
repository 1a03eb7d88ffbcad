package policy

import "maps"

// unchanged reports whether the names of the directory still have the stamps
// of an earlier reading. It reads no file.
func unchanged(dir string, stamps map[string]stamp) bool {
	d, err := openDirectory(dir)
	if err != nil {
		return false
	}
	defer d.close()
	names, err := d.documents()
	if err != nil {
		return false
	}
	now := make(map[string]stamp, len(stamps))
	for _, name := range names {
		now[name] = d.stamp(name)
	}
	for name := range stamps {
		now[name] = d.stamp(name)
	}
	return maps.Equal(now, stamps)
}
