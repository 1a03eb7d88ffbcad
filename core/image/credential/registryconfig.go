package credential

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/pod"
)

// registryConfig is a config.json as "docker login" writes it.
type registryConfig struct {
	Auths       map[string]registryAuth `json:"auths"`
	CredsStore  string                  `json:"credsStore"`
	CredHelpers map[string]string       `json:"credHelpers"`
}

type registryAuth struct {
	Auth     string `json:"auth"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// parseRegistryConfig reads a config.json. The error contains no secrets.
func parseRegistryConfig(data []byte) (keyring, error) {
	var cfg registryConfig
	if err := json.Unmarshal(data, &cfg); err != nil {
		return nil, fmt.Errorf("it is no registry configuration: %w", jsonFault(err))
	}
	if cfg.Auths == nil {
		if cfg.CredsStore != "" || len(cfg.CredHelpers) > 0 {
			return nil, errors.New("credsStore and credHelpers are not used: set runtime.credential_provider_config, or put the credentials into auths")
		}
		return nil, errors.New(`it has no "auths": write {"auths": {"registry.example": {"auth": "…"}}}, as "docker login" does`)
	}
	return keyringOf(cfg.Auths)
}

// keyringOf returns the credentials of a registry configuration.
func keyringOf(auths map[string]registryAuth) (keyring, error) {
	var keys keyring
	for _, key := range slices.Sorted(maps.Keys(auths)) {
		if auths[key] == (registryAuth{}) {
			continue // a login with a credential helper leaves such an entry
		}
		auth, err := auths[key].decode()
		if err == nil {
			err = keys.add(key, auth)
		}
		if err != nil {
			return nil, fmt.Errorf("auths[%.80q]: %w", key, err)
		}
	}
	if len(keys) == 0 && len(auths) > 0 {
		return nil, errEmptyAuth
	}
	keys.sort()
	return keys, nil
}

func (a registryAuth) decode() (pod.RegistryAuth, error) {
	if a.Auth == "" {
		return pod.RegistryAuth{Username: a.Username, Password: a.Password}, nil
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(a.Auth, "="))
	user, password, ok := strings.Cut(string(text), ":")
	if err != nil || !ok {
		return pod.RegistryAuth{}, errors.New("auth is not USER:PASSWORD in base64")
	}
	return pod.RegistryAuth{Username: user, Password: strings.TrimRight(password, "\x00")}, nil
}

// jsonFault returns the position of a JSON error, without the text at that position.
func jsonFault(err error) error {
	if f, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("no JSON at byte %d", f.Offset)
	}
	if f, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s has the wrong type at byte %d", f.Field, f.Offset)
	}
	return errors.New("it is no JSON")
}
