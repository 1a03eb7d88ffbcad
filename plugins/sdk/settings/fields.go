package settings

import "reflect"

// field returns the field of a struct for a setting.
func field(t reflect.Type, name string) (f reflect.StructField, ok bool) {
	for f := range t.Fields() {
		if takes, ok := nameOf(&f); ok && takes == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// nameOf returns the name of the setting for a field, and false if the field is for no
// setting.
func nameOf(f *reflect.StructField) (name string, ok bool) {
	if f.PkgPath != "" {
		return "", false
	}
	if name = tag(string(f.Tag)); name == "" {
		name = snake(f.Name)
	}
	return name, name != "-"
}

// tag returns the value of the key "setting" in the tag of a field.
func tag(text string) string {
	const key = `setting:"`
	for i := 0; i+len(key) <= len(text); i++ {
		if text[i:i+len(key)] != key || i > 0 && text[i-1] != ' ' {
			continue
		}
		value := text[i+len(key):]
		for end := range len(value) {
			if value[end] == '"' {
				return value[:end]
			}
		}
	}
	return ""
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// snake returns a name in lower case with underscores: max_age for MaxAge, and node_ip for
// NodeIP.
func snake(name string) string {
	var b []byte
	for i := range len(name) {
		c := name[i]
		if !isUpper(c) {
			b = append(b, c)
			continue
		}
		if i > 0 && (!isUpper(name[i-1]) || i+1 < len(name) && !isUpper(name[i+1])) {
			b = append(b, '_')
		}
		b = append(b, c+'a'-'A')
	}
	return string(b)
}

// names returns the names of the settings for which a struct has fields.
func names(t reflect.Type) (all []string) {
	for f := range t.Fields() {
		if name, ok := nameOf(&f); ok {
			all = append(all, name)
		}
	}
	return all
}

// join returns the path of a setting in a table. A name with other characters than letters,
// digits, _ and - is written as a key in quotes. The function is not inlined, which makes
// plugins smaller.
//
//go:noinline
func join(path, name string) string {
	plain := name != ""
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || isUpper(c))
	}
	switch {
	case !plain:
		return path + "['" + name + "']"
	case path == "":
		return name
	}
	return path + "." + name
}
