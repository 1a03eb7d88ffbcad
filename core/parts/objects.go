package parts

import (
	"log/slog"
	"path/filepath"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/object"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/source/file"
)

// objectKeyFile is the generated key in the state directory.
const objectKeyFile = "objects.key"

// ObjectKey returns the places in which the key of stored Secrets may be. lookupEnv returns
// environment variables, in which a service manager names its directory of credentials; nil for
// none.
func ObjectKey(cfg *config.Config, lookupEnv func(string) (string, bool)) object.KeyPlaces {
	places := object.KeyPlaces{File: cfg.Objects.KeyFile, Generated: filepath.Join(cfg.Paths.StateRoot, objectKeyFile)}
	if lookupEnv != nil {
		places.Credentials, _ = lookupEnv("CREDENTIALS_DIRECTORY")
	}
	return places
}

// ObjectDirectory returns the configuration for reading the directory of objects.
func ObjectDirectory(cfg *config.Config, sink source.Sink, log *slog.Logger) file.Config {
	return file.Config{
		Name: "objects", Path: cfg.Objects.Dir, Sink: sink, Decode: manifest.DecodeObjects, OwnerOnly: true, Logger: log,
	}
}
