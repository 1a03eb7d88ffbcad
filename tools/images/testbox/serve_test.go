package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("content\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_VARIABLE", "its value")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target string
		status int
		body   string
	}{
		{"/", http.StatusOK, "welcome to " + host + "\n"},
		{"/env", http.StatusOK, "A_VARIABLE=its value\n"},
		{"/fs?path=" + file, http.StatusOK, "content\n"},
		{"/fs?path=" + file + ".gone", http.StatusNotFound, "no such file"},
		{"/exit?code=x", http.StatusBadRequest, "code is not a number"},
		{"/other", http.StatusNotFound, ""},
	} {
		answer := httptest.NewRecorder()
		handler("welcome to").ServeHTTP(answer, httptest.NewRequest(http.MethodGet, c.target, http.NoBody))
		if answer.Code != c.status || !strings.Contains(answer.Body.String(), c.body) {
			t.Errorf("%s: got %d %q, want %d %q", c.target, answer.Code, answer.Body, c.status, c.body)
		}
	}
}
