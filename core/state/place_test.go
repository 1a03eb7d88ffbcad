package state

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAPlaceIsRememberedPerSource(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	if _, _, ok, err := d.Place("one").Load(); ok || err != nil {
		t.Errorf("a place before anything was stored: %v, %v", ok, err)
	}
	check(t, d.Place("one").Store(1, 2))
	check(t, d.Place("two").Store(3, 1<<63))
	check(t, d.Place("one").Store(5, 6))
	check(t, d.Close())

	d, _ = open(t, path)
	for source, want := range map[string][2]uint64{"one": {5, 6}, "two": {3, 1 << 63}} {
		dev, ino, ok, err := d.Place(source).Load()
		if got := [2]uint64{dev, ino}; !ok || err != nil || got != want {
			t.Errorf("%s: %v, %v, %v; want %v", source, got, ok, err, want)
		}
	}
	check(t, os.WriteFile(filepath.Join(path, "place-one.json"), []byte("torn"), 0o600))
	if _, _, ok, err := d.Place("one").Load(); ok || err != nil {
		t.Errorf("a torn file: %v, %v; want it to count as missing", ok, err)
	}
}
