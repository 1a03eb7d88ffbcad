package preflight

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/image/credential"
)

// checkCredentials reads the files with the credentials of registries.
func checkCredentials(cfg *config.Config) (findings []Finding) {
	r := &cfg.Runtime
	for _, report := range credential.Check(credential.Config{
		RegistryConfig: r.RegistryConfig, ProviderConfig: r.CredentialProviderConfig, ProviderDir: r.CredentialProviderBinDir,
	}) {
		f := Finding{LevelOK, "credentials of registries " + report.Path, ""}
		switch {
		case errors.Is(report.Err, fs.ErrPermission):
			f.Level, f.Message = LevelFail, fmt.Sprintf("%v; check as the user the agent runs as", report.Err)
		case report.Err != nil:
			f.Level, f.Message = LevelFail, report.Err.Error()
		case report.OthersRead:
			f.Level, f.Message = LevelWarn, "others than its owner may read it; chmod 600 it"
		}
		findings = append(findings, f)
	}
	return findings
}
