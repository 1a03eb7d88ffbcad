package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Explain adds to an error the server and what to do; nil for no error.
func (c *Client) Explain(err error) error {
	if err == nil {
		return nil
	}
	if more := c.transport.problem(); more != nil && !errors.Is(err, more) {
		err = fmt.Errorf("%w (%w)", err, more)
	}
	return explain(c.server, err)
}

func explain(server string, err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	if advice := adviceFor(err); advice != "" {
		return fmt.Errorf("API server %s: %w; %s", server, err, advice)
	}
	return fmt.Errorf("API server %s: %w", server, err)
}

func adviceFor(err error) string {
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	invalid, _ := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case errors.As(err, new(*credentialError)):
		return ""
	case invalid.Reason == x509.Expired: // or not yet valid
		return "check the clock of this node, then renew the server's certificate"
	case refused || unknown:
		return "check that the certificate authority is this server's"
	case apierrors.IsUnauthorized(err):
		return "renew the token or the certificate; files are read before every attempt"
	case apierrors.IsForbidden(err):
		return "the credentials must be those of system:node:NODE with this node's name, in the group system:nodes"
	case utilnet.IsConnectionRefused(err):
		return "check that it runs and listens there"
	case errors.Is(err, context.DeadlineExceeded) || utilnet.IsTimeout(err) || utilnet.IsHTTP2ConnectionLost(err):
		return "check the network between this node and it"
	}
	return ""
}
