package state

// Place stores the directory that a source has read last, in a file of its own.
type Place struct {
	dir    *Dir
	source string
}

// Place returns the Place of the named source. Names of sources are DNS labels.
func (d *Dir) Place(source string) Place { return Place{d, source} }

type place struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

func (p Place) file() string { return "place-" + p.source + ".json" }

// Load returns the stored values. ok is false if there are none, or if they were corrupt, which is
// logged.
func (p Place) Load() (dev, ino uint64, ok bool, err error) {
	var stored place
	ok, err = p.dir.load(p.file(), &stored)
	return stored.Dev, stored.Ino, ok, err
}

// Store stores the device and inode. They are on the disk when it returns nil.
func (p Place) Store(dev, ino uint64) error { return p.dir.store(p.file(), place{dev, ino}) }
