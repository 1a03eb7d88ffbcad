package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of sources. The documents of KindFile and KindHTTP are manifests. The pods of KindAPI
// come from an API server, where controllers create them.
const (
	KindFile = "file"
	KindHTTP = "http"
	KindAPI  = "api"
)

// SourceState is the state of one source, in the form of `get sources`.
type SourceState struct {
	Name string `json:"name"`
	// Kind is file, http or api.
	Kind string `json:"kind"`
	// Location is the path or URL.
	Location string `json:"location"`
	// Seen is true once the source has passed on its first snapshot. Before that, none of its running
	// pods is terminated.
	Seen bool `json:"seen"`
	// LastRead is the time of the last reading without an error.
	LastRead time.Time `json:"lastRead,omitzero"`
	// Err says why the source's last answer is still in use; empty if there is no error.
	Err string `json:"error,omitempty"`
	// Documents is the number of the source's documents. Bad is the number of invalid ones. An
	// unreadable manifest counts as the documents whose last valid version it keeps, or as one.
	Documents int `json:"documents"`
	Bad       int `json:"bad"`
	// Problems are the bad documents, ordered by document.
	Problems []Problem `json:"problems,omitempty"`
	// Ignored has the entries beside the manifests of a directory that are not read; nil for none.
	Ignored *Ignored `json:"ignored,omitempty"`
}

// Ignored has the entries of a directory of manifests that are not read. Names that begin with a
// dot are not counted.
type Ignored struct {
	// Files is the number of files without a manifest's suffix. Names are the first of them by name.
	Files int      `json:"files,omitempty"`
	Names []string `json:"names,omitempty"`
	// Directories is the number of directories.
	Directories int `json:"directories,omitempty"`
}

// maxIgnoredNames is the maximum number of names in Ignored.
const maxIgnoredNames = 3

// Add counts an entry of the directory.
func (i *Ignored) Add(name string, directory bool) {
	if directory {
		i.Directories++
		return
	}
	i.Files++
	at, _ := slices.BinarySearch(i.Names, name)
	i.Names = slices.Insert(i.Names, at, name)
	i.Names = i.Names[:min(len(i.Names), maxIgnoredNames)]
}

// String describes what is ignored and why, "" for nothing.
func (i *Ignored) String() string {
	var parts []string
	if i == nil {
		return ""
	}
	if i.Files > 0 {
		text, names := "1 file is", make([]string, 0, len(i.Names)+1)
		if i.Files > 1 {
			text = fmt.Sprintf("%d files are", i.Files)
		}
		for _, name := range i.Names {
			names = append(names, strconv.Quote(name))
		}
		if more := i.Files - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		parts = append(parts, text+" ignored, as only names that end in .yaml, .yml or .json are read: "+strings.Join(names, ", "))
	}
	switch {
	case i.Directories == 1:
		parts = append(parts, "1 directory is ignored: what lies deeper is not read")
	case i.Directories > 1:
		parts = append(parts, fmt.Sprintf("%d directories are ignored: what lies deeper is not read", i.Directories))
	}
	return strings.Join(parts, "; ")
}

// Problem is an invalid document.
type Problem struct {
	// Document is the document's ID.
	Document string `json:"document"`
	// Message has file, line and fault. More has further faults of the document in the same form.
	Message string    `json:"message"`
	More    []string  `json:"more,omitempty"`
	Since   time.Time `json:"since"`
	// Kept is true if the last valid version of the document's pod stays in force. Running is true if
	// that version runs.
	Kept    bool `json:"kept"`
	Running bool `json:"running,omitempty"`
	// Namespace and Name are those of the document's pod; empty if unknown.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Text returns all faults of the document in one line.
func (p *Problem) Text() string {
	return strings.Join(append([]string{p.Message}, p.More...), "; ")
}
