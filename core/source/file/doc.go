// Package file is the source that reads manifests from a directory, or from a
// single file.
//
// Input: files. Output: one document per pod, and bad documents with file and line, through a
// source.Sink. Run is one goroutine. It starts a second one that reads the kernel's events, and
// waits for it.
//
// # What is read
//
// In a directory: regular files whose names end in .yaml, .yml or .json and do not begin with a
// dot. Links are followed; subdirectories are not read. An entry with such a name that is not a
// regular file is never opened. It is a bad document, and the documents that were read under its
// name before are held. Entries with other names are counted (Config.Ignored). If the path is a
// file, it may have any name.
//
// # When a file is read
//
// A prefix of a manifest often parses, and may ask for more privilege than the whole manifest. So a
// file is read only when it is complete:
//
//   - at once, if its name appeared together with its content: no write followed the creation
//     (fence.go), or it is a second link to a file, or it is reached through a symbolic link that
//     was put in place (also one further up, as the "..data" of a mounted ConfigMap);
//   - otherwise after it has not changed for Config.Settle: no event, and the same inode, size
//     and times. If its times lie further in the past than that, they are trusted. While a
//     process has it open for writing, it must be unchanged for a minute: a copy over a network
//     may stall.
//
// A file that changed while it was read is read again.
//
// Events show when to look, at which names, and how a name appeared. Symbolic links, and files with
// several names, are looked at every time, because a change of the file under another name causes
// no event. The symbolic links on the way to the path are watched in their own directories
// (links.go). Every Config.Period, and whenever events may have been missed, the whole directory is
// listed. So without events (no inotify instances left, a network file system) every change is
// found, but later.
//
// # What is forgotten
//
// A document is removed when its file is absent from a successful listing and still absent after
// Config.Settle (editors move a file away before they write the new one), or when its file was read
// and no longer has the document. It is not removed in these cases:
//
//   - The path is missing or cannot be listed, or is empty and is not the same directory as before
//     (a file system that is not mounted). Health has the error and the last snapshot stays.
//   - The manifests, or their bytes, exceed Config.MaxFiles or MaxBytes. Then nothing is read, and
//     the directory is looked at once a second at most.
//   - Its file cannot be read, or has more documents than there is room for, or a document of the
//     file does not say which pod it is. Then the last document of the file is a bad document
//     whose ID ends in api.HoldSuffix, and the mux removes no document of the file.
//
// The first delivery is a snapshot (Replace), all later ones are differences. A difference has all
// documents of each changed file, because the position of a document depends on the whole file. A
// file that is being written during the whole start is held in the snapshot.
package file
