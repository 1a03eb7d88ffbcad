package http

import (
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain sets a proxy for the process, which is asked for any host but this
// machine's own: the environment is read only once.
func TestMain(m *testing.M) {
	proxy := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		answerWith(w, manifestOf("from-"+r.Host, "proxy"))
	}))
	os.Setenv("HTTP_PROXY", proxy.URL)
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}
