package http

import (
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain sets a proxy for all hosts except this machine. The proxy is set for the whole
// process, because the environment is read only once.
func TestMain(m *testing.M) {
	proxy := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		answerWith(w, manifestOf("from-"+r.Host, "proxy"))
	}))
	os.Setenv("HTTP_PROXY", proxy.URL)
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}
