package strict

import (
	"regexp"
	"strconv"
)

// A path names a place in a document: keys joined by dots, elements of arrays
// by their index, as in `source[1].name`. Keys that are not bare are quoted,
// so that no two places share a path.

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

// writtenPath is the path as the author of the document wrote it: without
// indices, which stand nowhere in it.
func writtenPath(path string) string { return index.ReplaceAllString(path, "") }
