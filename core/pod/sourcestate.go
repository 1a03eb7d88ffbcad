package pod

import (
	"strings"
	"time"
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
	// be used. A manifest that cannot be read counts as one document.
	Documents int `json:"documents"`
	Bad       int `json:"bad"`
	// Problems are the bad documents, ordered by document.
	Problems []Problem `json:"problems,omitempty"`
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
