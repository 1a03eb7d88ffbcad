package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	nethttp "net/http"
)

// advice returns the remedy for a status, as the end of an error.
func (c *client) advice(status int) string {
	switch status {
	case nethttp.StatusUnauthorized, nethttp.StatusForbidden:
		if c.cfg.HeaderFile == "" && c.cfg.ClientCertFile == "" {
			return "; does the server want header_file, or client_cert_file?"
		}
		return "; it does not take what header_file and client_cert_file say, or that was not sent because it is another server's"
	case nethttp.StatusNotFound, nethttp.StatusGone:
		return "; is url right? For no pods answer with an empty PodList"
	case nethttp.StatusNoContent:
		return "; for no pods answer with an empty PodList"
	case nethttp.StatusProxyAuthRequired:
		return "; does the proxy of the environment (HTTP_PROXY, HTTPS_PROXY) need a password?"
	}
	return ""
}

// explain adds the remedy to the error of a request.
func (c *client) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no whole answer within %s; raise timeout if the server needs longer", c.cfg.Timeout)
	}
	hint := func(text string) error { return fmt.Errorf("%w; %s", err, text) }
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && c.cfg.CAFile == "" {
		return hint("name the authority of the server's certificate with ca_file")
	} else if ok {
		return hint("add the authority of the server's certificate to " + c.cfg.CAFile)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return hint("url must have a host of the server's certificate")
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return hint("does the server need a new certificate, or is this node's clock wrong?")
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return hint("does the server speak https at this port?")
	}
	op, ok := errors.AsType[*net.OpError](err)
	switch {
	case ok && op.Op == "remote error" && c.cfg.ClientCertFile == "":
		return fmt.Errorf("%w; does the server want client_cert_file and client_key_file?", op)
	case ok && op.Op == "remote error":
		return fmt.Errorf("%w; does the server know the authority of client_cert_file?", op)
	case ok && op.Op == "dial":
		return hint("is the server there, and is this node online?")
	}
	return err
}
