// Package unused removes images that nothing on the node needs.
//
// Input: the images and containers of the runtime, the names of images that must stay, and the
// state of the file system of images. Output: removals, and events about the node when they do not
// free enough. Run is the package's goroutine: every five minutes it removes images that were not
// used for too long, and the least recently used ones while the file system is too full. Eviction
// calls RemoveAll on its own goroutine; the two take turns.
package unused
