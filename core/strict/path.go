package strict

import (
	"regexp"
	"strconv"
)

// A path names a place in a document: keys joined by dots, and indices of array elements, as in
// `source[1].name`. Keys with other characters than a bare key are quoted, so that every place has
// its own path.

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func joinKey(path, key string) string {
	if !bareKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func joinIndex(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

var index = regexp.MustCompile(`\[\d+\]`)

// writtenPath returns the path in the form of the document, which contains no indices.
func writtenPath(path string) string { return index.ReplaceAllString(path, "") }
