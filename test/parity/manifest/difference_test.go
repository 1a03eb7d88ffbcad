package manifest

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// ofLocalObject matches a kubelet's error for an otherwise valid pod that references an object that
// a node may have without an API server.
var ofLocalObject = regexp.MustCompile(`static pods may not reference (?:secrets|configmaps)$`)

// difference is a line of docs/differences.md, section Manifests, as a predicate. The functions
// that are set decide where the difference may apply.
type difference struct {
	id string
	// pods recognises the difference in two accepted pods and removes it from both.
	pods func(s *subject, theirs, ours *v1.Pod) bool
	// fault matches Wardlet's error about a document that a kubelet accepts; its first group is the
	// path of the field at fault. check then reports whether the error is true.
	fault *regexp.Regexp
	check func(s *subject, match []string) bool
	// mend repairs the document; nil removes the field at fault.
	mend func(doc map[string]any)
	// accepts recognises a document that only Wardlet accepts.
	accepts func(s *subject) bool
}

var hex32 = regexp.MustCompile(`^[0-9a-f]{32}$`)

var (
	// structural are the lines that the comparison counts while it splits a manifest. ofUIDs are
	// the lines with a test of their own.
	structural = []string{"multi-document", "list-in-file", "list-kind", "bad-item"}
	ofUIDs     = []string{"uid-http-node", "uid-path"}
)

var differences = []difference{
	{id: "uid", pods: func(_ *subject, k, w *v1.Pod) bool {
		derived := k.UID != w.UID && hex32.MatchString(string(k.UID)) && hex32.MatchString(string(w.UID)) &&
			k.Annotations[pod.AnnotationHash] == string(k.UID) && w.Annotations[pod.AnnotationHash] == string(w.UID)
		if derived {
			k.UID, w.UID = "", ""
			delete(k.Annotations, pod.AnnotationHash)
			delete(w.Annotations, pod.AnnotationHash)
		}
		return derived
	}},
	{id: "fixed-uid-hash", pods: func(_ *subject, k, w *v1.Pod) bool {
		fixed := k.UID == w.UID && k.UID != "" &&
			k.Annotations[pod.AnnotationHash] == string(k.UID) && hex32.MatchString(w.Annotations[pod.AnnotationHash])
		if fixed {
			delete(k.Annotations, pod.AnnotationHash)
			delete(w.Annotations, pod.AnnotationHash)
		}
		return fixed
	}},
	{id: "type-meta", pods: func(_ *subject, k, w *v1.Pod) bool {
		known := k.TypeMeta == metav1.TypeMeta{} && w.TypeMeta == metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		w.TypeMeta = k.TypeMeta
		return known
	}},
	{id: "creation-timestamp", pods: func(_ *subject, k, w *v1.Pod) bool {
		known := !k.CreationTimestamp.IsZero() && w.CreationTimestamp.IsZero()
		k.CreationTimestamp = w.CreationTimestamp
		return known
	}},
	{id: "http-toleration", pods: func(s *subject, k, w *v1.Pod) bool {
		known := s.at.kind == api.KindHTTP && !cmp.Equal(k.Spec.Tolerations, w.Spec.Tolerations) &&
			cmp.Equal(tolerating(k.Spec.Tolerations), w.Spec.Tolerations)
		if known {
			w.Spec.Tolerations = k.Spec.Tolerations
		}
		return known
	}},
	{id: "system-priority-class", pods: func(_ *subject, k, w *v1.Pod) bool {
		known := k.Spec.Priority == nil && w.Spec.Priority != nil && *w.Spec.Priority == systemPriority(w.Spec.PriorityClassName)
		if known {
			w.Spec.Priority = nil
		}
		return known
	}},
	{id: "number-form", pods: func(s *subject, k, w *v1.Pod) bool {
		return json.Valid(s.text) && sameForm(k, w)
	}},

	{
		id:    "unsupported-field",
		fault: regexp.MustCompile(`(?s)^(\S+): (?:(.*) is )?not supported by this version yet(?:; supported: |$)`),
		check: func(_ *subject, m []string) bool { return !documented(m[1], m[2]) },
	},
	{
		// A kubelet treats an empty name like no name.
		id:    "unsupported-field",
		fault: regexp.MustCompile(`^(\S+): static pods may not reference `),
		check: func(_ *subject, m []string) bool { return !documented(m[1], "") },
	},
	{
		id:    "unknown-field",
		fault: regexp.MustCompile(`(?s)^(.+): unknown field(?: of a list|; did you mean \S+\?)?$`),
		check: func(s *subject, m []string) bool { return unknown(s.text, m[1]) },
	},
	{
		id:    "duplicate-key",
		fault: regexp.MustCompile(`^duplicate key `),
		check: func(s *subject, _ []string) bool { return duplicated(s.text) },
	},
	{
		id:    "reserved-annotation",
		fault: regexp.MustCompile(`^(metadata\.annotations\[(?:kubernetes\.io/config\.|wardlet\.dev/)[^\]]*\]): Forbidden: `),
	},
	{id: "identity-form", fault: regexp.MustCompile(`^(metadata\.annotations\[wardlet\.dev/identity\]): Invalid value: `)},
	{
		id: "field-annotation",
		fault: regexp.MustCompile(`^(metadata\.annotations\[(?:scheduler\.alpha\.kubernetes\.io/tolerations|seccomp\.security\.alpha\.kubernetes\.io/pod|` +
			`container\.seccomp\.security\.alpha\.kubernetes\.io/[^\]]*|container\.apparmor\.security\.beta\.kubernetes\.io/[^\]]*)\]): Forbidden: `),
	},
	{
		id: "uid-form", fault: regexp.MustCompile(`^(metadata\.uid): Invalid value: `),
		check: func(s *subject, _ []string) bool {
			return !anywhere(s.text, "uid", regexp.MustCompile(`^[A-Za-z0-9-]{0,63}$`))
		},
	},
	{
		// The decoder of kinds ignores the case of letters.
		id:    "kind-letters",
		fault: regexp.MustCompile(`^(?:apiVersion|kind) is (?:missing; a pod has apiVersion v1 and kind Pod(?:, did you mean \S+ by \S+\?)?|empty; a pod has kind Pod)$`),
		check: func(s *subject, _ []string) bool { return respelled(s.text) > 0 },
		mend:  func(doc map[string]any) { respell(doc) },
	},
	{id: "after-the-end", fault: regexp.MustCompile(`^(?:did not find expected <document start>|a second document begins without a line "---" before it)$`)},
	{
		id: "byte-order-mark", fault: regexp.MustCompile(`^a byte order mark \(EF BB BF\), which editors do not show, begins this line;`),
		check: func(s *subject, _ []string) bool { return bytes.Contains(s.text, []byte("\n\ufeff")) },
	},
	{id: "system-priority-class", fault: regexp.MustCompile(`^(spec\.priority): Invalid value: -?\d+: must be that of the class system-(?:node|cluster)-critical, \d+, or absent$`)},
	{id: "node-name", fault: regexp.MustCompile(`^(spec\.nodeName): Invalid value: "[^"]*": this node is "node-1"$`)},
	{
		id:    "host-ip",
		fault: regexp.MustCompile(`^(spec\.containers\[\d+\]\.ports\[\d+\]\.hostIP): Invalid value: "([^"]*)": must be an IP address`),
		check: func(_ *subject, m []string) bool {
			ip, err := netip.ParseAddr(m[2])
			return err != nil || ip.Zone() != ""
		},
	},
	{id: "relative-host-path", fault: regexp.MustCompile(`^(spec\.volumes\[\d+\]\.hostPath\.path): Invalid value: "[^/]([^"]|\\")*": must be an absolute path$`)},
	{id: "huge-quantity", fault: regexp.MustCompile(`^(\S+): \S+ is far too large, or too exact$`)},
	{id: "huge-number", fault: regexp.MustCompile(`^the number \S+ is too great$`), mend: func(doc map[string]any) { unhuge(doc) }},
	{id: "negative-grace", fault: regexp.MustCompile(`^(spec\.terminationGracePeriodSeconds): Invalid value: -\d+: must be greater than or equal to 0$`)},
	{id: "merge-key-last", fault: regexp.MustCompile(`^the merge key << must come first$`)},
	{
		id: "too-large", fault: regexp.MustCompile(`^(?:nested deeper than \d+ levels|larger than \d+ bytes|more than \d+ |items: more than \d+$)`),
		mend: func(doc map[string]any) { prune(doc, 90) },
	},
	{id: "not-utf8", fault: regexp.MustCompile(`^(?:not valid UTF-8$|control character 0x|from here on the text is in |the manifest is in )`), check: func(s *subject, _ []string) bool { return !utf8.Valid(s.text) }},
	{
		id: "list-part", fault: regexp.MustCompile(`^(?:items: missing; |metadata: this is one page of a list only; )`),
		mend: func(doc map[string]any) {
			delete(doc, "metadata")
			if doc["items"] == nil {
				doc["items"] = []any{}
			}
		},
	},
	{
		id:    "item-kind",
		fault: regexp.MustCompile(`(?s)^(?:apiVersion|kind)(?: ".*" is not a Pod; | ".*" is not known: | ".*" of a \S+ is not supported; | is empty; |: expected )|^a list within a list`),
		check: inList,
		mend: func(doc map[string]any) {
			items, _ := doc["items"].([]any)
			for _, item := range items {
				if item, ok := item.(map[string]any); ok {
					delete(item, "kind")
					delete(item, "apiVersion")
				}
			}
		},
	},
	{
		// Any fault of such a text.
		id: "after-the-end", fault: regexp.MustCompile(`^`),
		check: func(s *subject, _ []string) bool {
			before, _, ended := strings.Cut(string(s.text), "\n...")
			_, faults := wardlet([]byte(before), s.at)
			return ended && len(faults) == 0
		},
	},

	{id: "byte-order-mark", accepts: func(s *subject) bool {
		unmarked := bytes.ReplaceAll(s.text, []byte("\n\ufeff"), []byte("\n"))
		_, err := kubelet(unmarked, s.at)
		return err == nil && len(unmarked) < len(s.text)
	}},
	{id: "flow-yaml", accepts: func(s *subject) bool { return flowYAML(s) && sameAsYAML(s) }},
	{id: "whole-fraction", accepts: func(s *subject) bool {
		return json.Valid(s.text) && strings.Contains(s.err.Error(), "json: cannot unmarshal number ") && sameAsYAML(s)
	}},
	{id: "local-object", accepts: func(s *subject) bool { return ofLocalObject.MatchString(s.err.Error()) }},
	{id: "no-pods", accepts: func(s *subject) bool {
		return len(s.ours) == 0 && !says(bytes.TrimPrefix(s.text, []byte("\ufeff")))
	}},
}
