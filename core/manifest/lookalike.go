package manifest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// lookalikeNear describes the first character near a line of a document that looks like an ASCII
// character or is invisible, with its line; "" if there is none. A syntax error may report the line
// before or after that of the fault.
func lookalikeNear(c chunk, line int) string {
	lines := bytes.Split(c.text, []byte{'\n'})
	for _, n := range []int{line, line - 1, line + 1} {
		if n < 1 || n > len(lines) {
			continue
		}
		if odd := lookalikeInLine(string(lines[n-1])); odd != "" {
			return fmt.Sprintf("; line %d has %s", c.above+n, odd)
		}
	}
	return ""
}

// lookalikeInKey is lookalike for a key or another word of the API: these have only ASCII
// characters.
func lookalikeInKey(key string) string {
	odd := lookalike(key, true)
	if odd == "" {
		return ""
	}
	quoted := strings.ToValidUTF8(key[:min(len(key), maxShown)], "")
	return fmt.Sprintf("; %s has %s", strconv.QuoteToASCII(quoted), odd)
}

// lookalikeInLine is lookalike for a line without its comment. The text before the colon is a key.
func lookalikeInLine(line string) string {
	for at := range line {
		if line[at] == '#' && (at == 0 || line[at-1] == ' ' || line[at-1] == '\t') {
			line = line[:at]
			break
		}
	}
	key, rest, _ := strings.Cut(line, ":")
	if odd := lookalike(key, true); odd != "" {
		return odd
	}
	return lookalike(rest, false)
}

// lookalike describes the first character of a text that is invisible or looks like another one, by
// its code point and its kind. In a key it also finds letters of other scripts.
func lookalike(text string, key bool) string {
	for _, r := range text {
		if r <= unicode.MaxASCII || r == '\ufeff' { // a byte order mark has its own error
			continue
		}
		kind := hides(r)
		if kind == "" && key {
			kind = isForeign(r)
		}
		if kind != "" {
			return fmt.Sprintf("%U, %s", r, kind)
		}
	}
	return ""
}

// colons are the characters that look like a colon.
const colons = "\u02d0\u05c3\u2236\ua789\ufe13\ufe55"

// hides returns the kind of a character that is invisible or looks like an ASCII one, "" for
// others.
func hides(r rune) string {
	switch {
	case r == '\u00a0' || r == '\u202f' || r == '\u2007':
		return "a no-break space"
	case unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
		return "a space, but not the ordinary one"
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return "which is invisible"
	case r >= '\uff01' && r <= '\uff5e':
		return fmt.Sprintf("a full-width %c", r-'\uff01'+'!')
	case strings.ContainsRune(colons, r):
		return "which looks like a colon"
	}
	return ""
}

// isForeign returns the kind of another character where only ASCII is allowed, "" for a Latin
// letter, because its accent is visible.
func isForeign(r rune) string {
	if unicode.Is(unicode.Pd, r) {
		return "a dash, but not the ordinary one"
	}
	if unicode.Is(unicode.Latin, r) {
		return ""
	}
	if unicode.IsLetter(r) {
		for _, script := range slices.Sorted(maps.Keys(unicode.Scripts)) {
			if unicode.Is(unicode.Scripts[script], r) {
				return "a letter of the script " + script
			}
		}
	}
	return "which is not ASCII"
}

// references are the fields with which a pod references an API object, by row, and the name of the
// object in a kubelet (HasAPIObjectReference, pkg/api/pod). A static pod may not have such a
// reference, because the node reads the pod without any API server. The rows of containers apply to
// init containers, too.
var references = map[string]string{
	"spec.serviceAccountName": "serviceaccounts",
	"spec.serviceAccount":     "serviceaccounts",
	"spec.imagePullSecrets":   "secrets",
	"spec.resourceClaims":     "resourceclaims",

	"spec.containers[].envFrom[].secretRef":                  "secrets",
	"spec.containers[].envFrom[].configMapRef":               "configmaps",
	"spec.containers[].env[].valueFrom.secretKeyRef":         "secrets",
	"spec.containers[].env[].valueFrom.configMapKeyRef":      "configmaps",
	"spec.volumes[].secret":                                  "secrets",
	"spec.volumes[].configMap":                               "configmaps",
	"spec.volumes[].persistentVolumeClaim":                   "persistentvolumeclaims",
	"spec.volumes[].ephemeral":                               "persistentvolumeclaims (via ephemeral volumes)",
	"spec.volumes[].csi":                                     "csidrivers (via CSI volumes)",
	"spec.volumes[].csi.nodePublishSecretRef":                "secrets",
	"spec.volumes[].glusterfs":                               "endpoints (via glusterFS volumes)",
	"spec.volumes[].azureFile":                               "secrets",
	"spec.volumes[].cephfs.secretRef":                        "secrets",
	"spec.volumes[].cinder.secretRef":                        "secrets",
	"spec.volumes[].flexVolume.secretRef":                    "secrets",
	"spec.volumes[].iscsi.secretRef":                         "secrets",
	"spec.volumes[].rbd.secretRef":                           "secrets",
	"spec.volumes[].scaleIO.secretRef":                       "secrets",
	"spec.volumes[].storageos.secretRef":                     "secrets",
	"spec.volumes[].projected.sources[].secret":              "secrets",
	"spec.volumes[].projected.sources[].configMap":           "configmaps",
	"spec.volumes[].projected.sources[].podCertificate":      "podcertificates",
	"spec.volumes[].projected.sources[].serviceAccountToken": "serviceaccounts (via projected volumes)",
	"spec.volumes[].projected.sources[].clusterTrustBundle":  "clustertrustbundles",
}

// reference is a field that references an API object.
type reference struct{ path, object string }

// referencesIn returns the references at the path and below it.
func referencesIn(v any, path, row string) []reference {
	var found []reference
	if object, ok := references[strings.Replace(row, "spec.initContainers[]", "spec.containers[]", 1)]; ok && asks(v) {
		found = append(found, reference{path, object})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, referencesIn(v[name], join(path, name), join(row, name))...)
		}
	case []any:
		for i, item := range v {
			found = append(found, referencesIn(item, path+"["+strconv.Itoa(i)+"]", row+"[]")...)
		}
	}
	return found
}

// asks reports whether the value references an object: an empty object does, an empty list does
// not.
func asks(v any) bool {
	items, list := v.([]any)
	return v != nil && v != "" && (!list || len(items) > 0)
}
