package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no error":             {nil, ""},
		"an unknown authority": {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "check that the certificate authority is this server's"},
		"a clock that is off": {
			&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}},
			"check the clock of this node, then renew the server's certificate",
		},
		"no credentials": {apierrors.NewUnauthorized("no"), "renew the token or the certificate; files are read before every attempt"},
		"no right":       {apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "a", nil), "the credentials must be those of system:node:NODE"},
		"no answer":      {context.DeadlineExceeded, "check the network between this node and it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := explain("https://192.0.2.1", c.err)
			if c.err == nil {
				err = (&Client{}).Explain(nil)
			}
			if text := errorText(err); !strings.Contains(text, c.want) || (c.want == "") != (text == "") {
				t.Errorf("explained as %q, want %q", text, c.want)
			}
			wrapped := errorText(explain("https://192.0.2.1", &url.Error{Op: "Get", URL: "https://192.0.2.1/x", Err: c.err}))
			if c.err != nil && !strings.HasPrefix(wrapped, "API server https://192.0.2.1: ") {
				t.Errorf("of a request: %q", wrapped)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
