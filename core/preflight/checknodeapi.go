package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/nodeapi"
	"github.com/wardlet/wardlet/core/parts"
)

// certificateNotice is the time before a certificate's expiry from which on the check warns.
const certificateNotice = 7 * 24 * time.Hour

// checkNodeAPI reads the files of the node's API, if the API is served.
func checkNodeAPI(cfg *config.Config, now time.Time) []Finding {
	c := &cfg.NodeAPI
	if !c.Served() {
		return nil
	}
	certFile, keyFile := parts.ServingFiles(cfg)
	subject := "node_api " + certFile
	if c.CertFile == "" && !isThere(certFile) && isThere(c.ClientCAFile) {
		return []Finding{{LevelOK, subject, "the agent makes this certificate when it starts"}}
	}
	cert, err := nodeapi.ReadFiles(certFile, keyFile, c.ClientCAFile)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; check as the user the agent runs as", err)
	}
	if err == nil {
		err = nodeapi.Validity(cert, now)
	}
	if err != nil {
		return []Finding{{LevelFail, subject, err.Error()}}
	}
	message := "valid until " + cert.NotAfter.UTC().Format(time.RFC3339)
	if cert.NotAfter.Sub(now) <= certificateNotice {
		return []Finding{{LevelWarn, subject, message + " only; renew it, and the agent takes the new one by itself"}}
	}
	return []Finding{{LevelOK, subject, message}}
}
