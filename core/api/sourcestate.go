package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of sources. The documents of KindFile and KindHTTP are manifests; the pods of KindAPI are made by controllers.
const (
	KindFile = "file"
	KindHTTP = "http"
	KindAPI  = "api"
)

// SourceState is what is known of one source, as `get sources` shows it.
type SourceState struct {
	Name string `json:"name"`
	// Kind is file, http or api.
	Kind string `json:"kind"`
	// Location is the path or URL.
	Location string `json:"location"`
	// Seen is true once the source has handed over its first snapshot. Until
	// then nothing that runs from it is ended.
	Seen bool `json:"seen"`
	// LastRead is when the source was last read without an error.
	LastRead time.Time `json:"lastRead,omitzero"`
	// Err says why the source's last answer still stands; empty when it works.
	Err string `json:"error,omitempty"`
	// Documents counts the documents the source holds, Bad those that cannot
	// be used. A manifest that cannot be read counts as the documents whose
	// last valid version it keeps, or as one.
	Documents int `json:"documents"`
	Bad       int `json:"bad"`
	// Problems are the bad documents, ordered by document.
	Problems []Problem `json:"problems,omitempty"`
	// Ignored is what lies beside the manifests of a directory and is not read; nil
	// for nothing.
	Ignored *Ignored `json:"ignored,omitempty"`
}

// Ignored is what a directory of manifests holds that is not read. Names that begin
// with a dot do not count.
type Ignored struct {
	// Files counts the files whose names do not end like a manifest's, Names are the
	// first of them by name.
	Files int      `json:"files,omitempty"`
	Names []string `json:"names,omitempty"`
	// Directories counts the directories.
	Directories int `json:"directories,omitempty"`
}

// maxIgnoredNames is how many names stand for all that are ignored.
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

// String says what is ignored and why, "" for nothing.
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

// Problem is a document that cannot be used.
type Problem struct {
	// Document is the document's ID.
	Document string `json:"document"`
	// Message names file and line and says what is wrong; More are further faults of the
	// document, in the same form.
	Message string    `json:"message"`
	More    []string  `json:"more,omitempty"`
	Since   time.Time `json:"since"`
	// Kept is true when the last valid version of the document's pod stays in
	// force, Running when that is what runs.
	Kept    bool `json:"kept"`
	Running bool `json:"running,omitempty"`
	// Namespace and Name are those of the pod that the document is or would be;
	// empty where it does not say.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Text is all that is wrong with the document, in one line.
func (p *Problem) Text() string {
	return strings.Join(append([]string{p.Message}, p.More...), "; ")
}
