package state

import (
	"encoding/json"
	"errors"
)

// objectsDir is the directory of objects that pods name.
const objectsDir = "objects"

// Object is what was last known of an object that pods name, or of all objects of a kind in a namespace.
type Object struct {
	// Key names kind, namespace and name.
	Key string `json:"key"`
	// Items are the objects there were, none where there was none.
	Items []json.RawMessage `json:"items"`
	// Sealed is, in place of Items, the encrypted list of Secrets.
	Sealed []byte `json:"sealed,omitempty"`
}

// Objects keeps one record per key.
type Objects = Table[string, Object, *Object]

// Objects is the store of objects that pods name.
func (d *Dir) Objects() Objects { return Objects{d, objectsDir} }

func (o *Object) String() string { return "copy of " + o.Key }

func (o *Object) key() string { return o.Key }

func (o *Object) usable() error {
	if o.Key == "" {
		return errors.New("it is about no object")
	}
	return nil
}
