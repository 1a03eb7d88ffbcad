package manifest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// uidScheme names the way UIDs are made. Changing anything below, or this,
// restarts every pod of every node at its next upgrade.
const uidScheme = "wardlet pod uid 1"

// deriveUID makes the UID of a pod from its document as it was written: the
// values, with keys sorted and before any default, the name of its source,
// its identity and the node's name. It is the first half of a SHA-256, in
// hex; every part is preceded by its length, so that none can pass for a
// piece of another.
//
// "As written" is exact but for two fields that are ignored elsewhere too:
// metadata.creationTimestamp and status. A null counts (a label that is null
// is an empty label), numbers count by value (1.0 is 1), anchors by what they
// stand for.
func deriveUID(doc map[string]any, source string, identity types.NamespacedName, node string) (types.UID, error) {
	doc = maps.Clone(doc)
	delete(doc, "status")
	if meta, ok := doc["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "creationTimestamp")
		doc["metadata"] = meta
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("derive the UID: %w", err)
	}
	var buf []byte
	for _, part := range [][]byte{
		[]byte(uidScheme), text, []byte(source), []byte(identity.Namespace), []byte(identity.Name), []byte(node),
	} {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	return types.UID(pod.Digest(buf)[:32]), nil
}
