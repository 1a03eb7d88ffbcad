package state

import (
	"encoding/json"
	"errors"
)

// objectsDir is the directory of the objects that pods name.
const objectsDir = "objects"

// Object is the last known state of an object that pods name, or of all objects of a kind in a
// namespace.
type Object struct {
	// Key consists of kind, namespace and name.
	Key string `json:"key"`
	// Items are the objects, empty if there are none.
	Items []json.RawMessage `json:"items"`
	// Sealed is the encrypted list of Secrets. It replaces Items.
	Sealed []byte `json:"sealed,omitempty"`
}

// Objects stores one record per key.
type Objects = Table[string, Object, *Object]

// Objects returns the store of the objects that pods name.
func (d *Dir) Objects() Objects { return Objects{d, objectsDir} }

func (o *Object) String() string { return "copy of " + o.Key }

func (o *Object) key() string { return o.Key }

func (o *Object) usable() error {
	if o.Key == "" {
		return errors.New("it is about no object")
	}
	return nil
}
