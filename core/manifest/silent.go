package manifest

import "bytes"

// Silent reports whether a manifest says nothing: it is empty, or has comments
// and separators only. Decode finds no document in it, as it does in a list
// without items, which says that there are no pods.
func Silent(data []byte) bool {
	return len(bytes.Trim(data, "\x00 \t\r\n")) == 0 || len(split(data)) == 0
}
