package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestContents_everyEditFitsTheSource(t *testing.T) {
	t.Parallel()
	files, err := contents("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Error(err)
		}
	}
}

func TestApply_placeNotThereOnce(t *testing.T) {
	t.Parallel()
	e := edits[0]
	for _, text := range []string{"", e.before + e.before} {
		if got, err := apply(e.file, text); err == nil {
			t.Errorf("apply to %q gives %q, want an error", text, got)
		}
	}
}
