// Package bundle reads a directory of policies once: its documents, the modules and test
// pods that the documents name, and the signature of the set.
//
// Comes in: a directory. Goes out: a Bundle with every file, its digest and every fault
// with file and line; and events when the directory may have changed (Watch).
//
// It reads files directly in the directory whose names end in ".toml" and do not begin with
// "." or "#", and the files that these documents name, in the directory or below it. It
// follows no symbolic link below the directory and opens only regular files. The directory
// itself may be reached through a link.
//
// It starts no goroutine except that of fsnotify, which Watch.Close stops. A Bundle belongs
// to its caller.
package bundle
