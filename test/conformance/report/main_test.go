package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"report.json": `[{"RunTime":2000000000,"SpecReports":[
			{"ContainerHierarchyTexts":["[a] Pods"],"LeafNodeType":"It","LeafNodeText":"start","State":"passed"},
			{"ContainerHierarchyTexts":["[a] Pods"],"LeafNodeType":"It","LeafNodeText":"stop","State":"failed","Failure":{"Message":"not\nso"}},
			{"ContainerHierarchyTexts":["[a] Pods"],"LeafNodeType":"It","LeafNodeText":"wait","State":"passed"},
			{"ContainerHierarchyTexts":["[b] Node"],"LeafNodeType":"It","LeafNodeText":"is new","State":"failed"},
			{"ContainerHierarchyTexts":["[b] Node"],"LeafNodeType":"It","LeafNodeText":"is off","State":"skipped"}]}]`,
		"slow.txt":    "",
		"passing.txt": "# comment\n[a] Pods start\n[a] Pods stop\n",
		"failing.txt": "## later\n[a] Pods wait\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := report(dir, &out); err != nil {
		t.Fatal(err)
	}
	if err := compare(dir, dir, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"   2 passed   1 failed   0 skipped      0 s  [a] Pods\n", "   2 passed   2 failed   0 skipped      0 s  all\n",
		"FAIL [a] Pods stop\n    # failed: not so", "failed, and is in passing.txt: [a] Pods stop\n", "passed, and is in failing.txt: [a] Pods wait\n",
		"failed, and is in no list: [b] Node is new\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
