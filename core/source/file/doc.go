// Package file is the source that reads manifests from a directory, or from a
// single file.
//
// Comes in: files. Goes out: one document per pod, and bad documents with file
// and line, through a source.Sink. Run is one goroutine; a second one, which
// Run owns and waits for, reads the kernel's events.
//
// # What is read
//
// Of a directory: regular files whose names end in .yaml, .yml or .json and do
// not begin with a dot, links followed; nothing below it. What has such a name and
// is no file is never opened; it is a bad document that holds what was read
// under that name before. What has another name is counted (Config.Ignored). A file
// given as the path may have any name.
//
// # When a file is read
//
// A prefix of a manifest often parses, and may ask for more privilege than the
// whole. So a file is read once it is whole:
//
//   - at once, when it came under its name in one step: the name appeared with
//     the content, without a write after it (fence.go), or as a second link to
//     a file, or it is reached through a symbolic link that was put in place
//     (also one further up, as the "..data" of a mounted ConfigMap);
//   - else when it has stood still for Config.Settle: no event, and the same
//     inode, size and times. Times that lie further in the past than that are
//     trusted. While a process has it open for writing, it must have stood still
//     for a minute: a copy over a network may stall.
//
// What changed while it was read is read again.
//
// Events say when to look, at which names, and how a name arrived; links are
// looked at every time, for no event tells of what they lead to. Those on the way
// to the path are watched where they stand (links.go). Every
// Config.Period, and whenever events may have been missed, all is listed. So
// without events (no inotify instances left, a network file system) everything
// is found, later.
//
// # What is forgotten
//
// A document is gone when its file is absent from a successful listing and
// still absent after Config.Settle (editors move a file away before they write
// the new one), or when its file was read and no longer has it. It is not gone
// when
//
//   - the path is missing or cannot be listed, or is empty and is not the
//     directory it was before (a file system that is not mounted): Health has
//     the error and the last snapshot stays;
//   - there are more manifests, or more bytes in them, than Config.MaxFiles and
//     MaxBytes: then nothing is read, and the directory is looked at once a second at
//     most;
//   - its file cannot be read, or has more documents than there is room for, or a
//     document of the file does not say which pod
//     it is: then the file has a bad document whose ID ends in api.HoldSuffix,
//     last of its documents, and the mux forgets nothing of it.
//
// The first delivery is a snapshot (Replace), all later ones are differences: all
// documents of the files that changed, for what stands where in a file only the
// whole of it says. A file that is being written all through the start is held in
// the snapshot.
package file
