package pod

import "strings"

// Subscript splits the path of a key of a map, such as metadata.labels['app'], into map and key; ok is false for any
// other path.
func Subscript(path string) (of, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "['")
}
