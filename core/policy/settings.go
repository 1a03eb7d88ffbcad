package policy

import (
	"errors"
	"regexp"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// plainSettings are settings in the types a plugin can get: string, bool,
// int64, float64, []any and map[string]any. Dates and times become strings as
// RFC 3339 writes them, those without a zone as the document wrote them.
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

// timeLayout knows what the TOML decoder makes of dates and times without a
// zone: it puts them into zones of these names.
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

// settingForm is how plugins name a setting that they refuse: "settings.allow must list
// at least one pattern", "setting label must be a string".
var settingForm = regexp.MustCompile(`\bsettings?[ .]([A-Za-z0-9_-]+)`)

// refusedFor is the key because of which a module cannot be loaded: the setting that it
// refuses, where it names one, all of them where it refuses these, else itself.
func (d *document) refusedFor(err error) (key string) {
	failure, ok := errors.AsType[*wasm.Failure](err)
	if !ok || failure.Code != wasm.PluginError || len(d.Settings) == 0 {
		return "module"
	}
	for _, named := range settingForm.FindAllStringSubmatch(failure.Error(), -1) {
		if _, ok := d.Settings[named[1]]; ok {
			return "settings." + named[1]
		}
	}
	return "settings"
}
