package spec

import (
	"errors"
	"regexp"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// plainSettings converts settings to the types that a plugin can read: string, bool, int64,
// float64, []any and map[string]any. Dates and times become strings in the format of RFC
// 3339; those without a zone keep the form that they have in the document.
func plainSettings(from map[string]any) map[string]any {
	to := make(map[string]any, len(from))
	for key, value := range from {
		to[key] = plainSetting(value)
	}
	return to
}

func plainSetting(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return plainSettings(value)
	case []map[string]any:
		return plainList(value)
	case []any:
		return plainList(value)
	case time.Time:
		return value.Format(timeLayout(value))
	}
	return value
}

func plainList[T any](from []T) []any {
	to := make([]any, len(from))
	for i := range from {
		to[i] = plainSetting(from[i])
	}
	return to
}

// timeLayout returns the layout of a time that the TOML decoder returned. The decoder
// marks dates and times without a zone by the name of their location.
func timeLayout(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return "2006-01-02T15:04:05.999999999"
	case "date-local":
		return time.DateOnly
	case "time-local":
		return "15:04:05.999999999"
	}
	return time.RFC3339Nano
}

// settingForm matches how plugins name a setting that they refuse: "settings.allow must
// list at least one pattern", "setting label must be a string".
var settingForm = regexp.MustCompile(`\bsettings?[ .]([A-Za-z0-9_-]+)`)

// KeyOfFailure returns the key that is at fault if the module cannot be loaded: the setting
// that the plugin names in its error, "settings" if the plugin refuses the settings without
// naming one, and "module" otherwise.
func (d *Document) KeyOfFailure(err error) (key string) {
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok || failure.Code != abi.PluginError || len(d.Settings) == 0 {
		return "module"
	}
	for _, named := range settingForm.FindAllStringSubmatch(failure.Error(), -1) {
		if _, ok := d.Settings[named[1]]; ok {
			return "settings." + named[1]
		}
	}
	return "settings"
}
