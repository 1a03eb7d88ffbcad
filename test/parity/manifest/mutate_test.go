package manifest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// mutant is a manifest that random steps made from a manifest of the corpus.
type mutant struct {
	text []byte
	at   place
}

// grow returns the mutant with a number. It is the same for the same seed, number and corpus.
func grow(seed, number uint64) mutant {
	r := rand.New(rand.NewPCG(seed, number))
	m := mutant{at: kinds[r.IntN(len(kinds))]}
	stock := ancestors()
	if r.IntN(4) == 0 {
		m.text = []byte(pick(r, stock.texts))
		for range 1 + r.IntN(3) {
			m.text = cutText(r, m.text)
		}
		return m
	}
	docs := stock.good
	if r.IntN(5) == 0 {
		docs = stock.docs
	}
	doc := clone(pick(r, docs)).(map[string]any)
	for steps := 1; steps == 1 || r.IntN(3) == 0; steps++ {
		cutTree(r, doc)
	}
	m.text = render(doc, r.IntN(2) == 0)
	if r.IntN(8) == 0 {
		m.text = cutText(r, m.text)
	}
	return m
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

type stock struct {
	texts []string
	// docs are the parsed texts that are documents. good are the documents that a kubelet accepts.
	docs, good []map[string]any
}

// ancestors are the manifests from which mutants are made: the documents of the corpus that are not
// too long, the files of the corpus and the output of kubectl.
var ancestors = sync.OnceValue(func() stock {
	s := stock{texts: []string{full, minimal}}
	for _, c := range documentCases {
		if len(c.text) < 4000 {
			s.texts = append(s.texts, c.text)
		}
	}
	for _, pattern := range []string{"testdata/corpus/*", "../../../core/manifest/testdata/kubectl/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			panic("no files: " + pattern)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			s.texts = append(s.texts, string(text))
		}
	}
	for _, text := range s.texts {
		if doc, err := treeOf([]byte(text)); err == nil && doc["kind"] != nil {
			s.docs = append(s.docs, doc)
			if _, err := kubelet([]byte(text), aURL); err == nil {
				s.good = append(s.good, doc)
			}
		}
	}
	return s
})
