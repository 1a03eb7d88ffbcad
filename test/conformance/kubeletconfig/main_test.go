package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	const text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nevictionHard: {memory.available: 250Mi}\nmaxPods: 7\nclusterDomain: test\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := convert(&out, path, "unix:///run/c.sock"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"memory.available" = "250Mi"`, "max_pods = 7", `endpoint = "unix:///run/c.sock"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "cluster") {
		t.Errorf("a table that the suite writes itself is in\n%s", out.String())
	}
	if err := convert(&out, filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("no error for a file that does not exist")
	}
}
