package kube

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestVersion_isThatOfTheModules(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"api", "apimachinery", "client-go", "cri-api"} {
		pinned := regexp.MustCompile(`k8s\.io/` + module + ` v0\.(\S+)`).FindSubmatch(mod)
		if pinned == nil || "v1."+string(pinned[1]) != Version {
			t.Errorf("k8s.io/%s is %s, Version %s", module, pinned, Version)
		}
	}
}

func TestCheckSkew(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{
		"v1.36.0":          "",
		"v1.36.9+k3s1":     "",
		"v1.39.0-alpha.1":  "",
		"v1.35.9":          "made for 1.36 to 1.39",
		"v1.40.0":          "made for 1.36 to 1.39",
		"v2.36.0":          "made for 1.36 to 1.39",
		"":                 "is none",
		"v1.36.3-gke.1000": "",
	} {
		if err := checkSkew(of); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", of, err, want)
		}
	}
}
