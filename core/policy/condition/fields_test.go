package condition

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestExpressionsReadThePod(t *testing.T) {
	t.Parallel()
	for name, expressions := range map[string][]string{
		"flags, numbers and texts": {
			"!object.spec.hostNetwork", "!object.spec.hostUsers", "object.metadata.generation == 3",
			"object.metadata.name == 'web'", "object.spec.restartPolicy == 'Always'",
			"object.spec.containers[0].ports[0].hostPort == 80",
		},
		"what is behind a pointer": {
			"object.spec.terminationGracePeriodSeconds == 30",
			"object.spec.containers[0].securityContext.runAsUser == 0",
			"object.spec.containers[0].securityContext.capabilities.add.exists(c, c == 'NET_ADMIN')",
			"object.spec.volumes[0].hostPath.path == '/etc'",
		},
		"what is not set as zero": {
			"object.spec.activeDeadlineSeconds == 0", "object.spec.hostname == ''",
			"object.spec.tolerations.size() == 0", "object.spec.containers[1].resources.limits.size() == 0",
			"!object.spec.securityContext.runAsNonRoot", "object.spec.securityContext.runAsNonRoot == false",
			"object.spec.securityContext.seLinuxOptions.level == ''",
			"object.spec.volumes[1].hostPath.path == ''", "object.spec.volumes.all(v, v.nfs.server == '')",
			"object.metadata.deletionTimestamp == timestamp('1970-01-01T00:00:00Z')",
			"object.spec.volumes[0].emptyDir.sizeLimit == '0'",
			"object.spec.containers[1].livenessProbe.httpGet.port == 0",
		},
		"has of what is set": {
			"has(object.spec.hostUsers)", "has(object.metadata.labels)", "has(object.metadata.labels.empty)",
			"has(object.spec.containers[0].securityContext.runAsUser)", "has(object.spec.volumes[0].hostPath)",
			"has(object.metadata.creationTimestamp)", "has(object.spec.volumes[1].emptyDir.sizeLimit)",
		},
		"has of what is not set": {
			"!has(object.spec.securityContext)", "!has(object.spec.securityContext.runAsNonRoot)",
			"!has(object.metadata.labels.nothing)", "!has(object.spec.hostname)", "!has(object.spec.tolerations)",
			"!has(object.metadata.deletionTimestamp)", "!has(object.spec.volumes[1].hostPath)",
			"!has(object.spec.containers[1].resources.limits)", "!has(oldObject.metadata.name)",
		},
		"null of objects that are not set": {
			"object.spec.securityContext == null", "object.spec.volumes[0].hostPath != null", "oldObject == null", "object != null",
		},
		"null among elements as not set": {
			"[object.spec.securityContext].all(s, s == null && !s.runAsNonRoot)",
			"object.spec.containers.map(c, c.securityContext).exists(s, s == null)",
			"object.spec.containers.map(c, c.securityContext).all(s, s.runAsUser == 0 && s.capabilities.drop.size() == 0)",
			"(object.spec.hostNetwork ? object : oldObject).spec.containers.size() == 0",
			"containers((object.spec.hostNetwork ? object : oldObject).spec).size() == 0",
		},
		"maps": {
			"object.metadata.labels['tier'] == 'web'", "object.metadata.labels.tier == 'web'", "'tier' in object.metadata.labels",
			"!('nothing' in object.metadata.labels)", "object.metadata.labels.size() == 3", "object.spec.nodeSelector.all(k, k == 'disk')",
			"object.metadata.labels.map(k, k)[2] == 'tier'", "[object.metadata.labels].all(m, m.exists(k, m[k] == 'web'))",
		},
		"lists": {
			"object.spec.containers.size() == 2", "object.spec.containers[1].name == 'side'", "'serve' in object.spec.containers[0].args",
			"!('x' in object.spec.containers[0].args)", "object.spec.containers.exists_one(c, c.name == 'app')",
			"object.spec.containers.map(c, c.name).filter(n, n != 'app')[0] == 'side'",
			"object.metadata.ownerReferences.exists(o, o.controller && o.kind == 'ReplicaSet')",
		},
		"quantities": {
			"object.spec.containers[0].resources.requests['cpu'] == '1500m'", "object.spec.containers[0].resources.requests.memory == '1Gi'",
			"object.spec.containers[0].resources.limits.cpu == '2'", "object.spec.volumes[1].emptyDir.sizeLimit == '1Gi'",
			"quantity(object.spec.containers[0].resources.requests['cpu']) < quantity(object.spec.containers[0].resources.limits['cpu'])",
			"quantity('1024Mi') == quantity('1Gi')", "quantity('1') != quantity('1m')", "quantity('1k') <= quantity('1000')",
			"object.spec.overhead['a'] == '107374182400m'", "object.spec.overhead['b'] == '0'", "object.spec.overhead['c'] == '-5'",
			"object.spec.overhead['d'] == '12345678901234567890123'", "object.spec.overhead['e'] == '1e3'", "object.spec.overhead['f'] == '1E'",
			"quantity('1Ki') > quantity('1k')", "quantity('1Ki') >= quantity('1k')", "quantity('1E') > quantity('1P')", "quantity('1e3') == quantity('1k')",
			"object.spec.containers[0].resources.requests.exists(k, k == 'cpu')",
		},
		"ports by number or name": {
			"object.spec.containers[0].livenessProbe.httpGet.port == 'http'", "object.spec.containers[1].livenessProbe.tcpSocket.port == 81",
			"object.spec.containers[1].livenessProbe.tcpSocket.port != 'http'", "object.spec.containers[1].livenessProbe.tcpSocket.port in [80, 81]",
			"string(object.spec.containers[1].livenessProbe.tcpSocket.port) == '81'", "int(object.spec.containers[1].livenessProbe.tcpSocket.port) < 1024",
			"object.spec.containers.map(c, c.livenessProbe.tcpSocket.port).exists(p, p == 81)",
			"(object.spec.hostNetwork ? object.spec.containers[0].livenessProbe.httpGet.port : object.spec.containers[1].livenessProbe.tcpSocket.port) == 81",
		},
		"times, in UTC": {
			"object.metadata.creationTimestamp == timestamp('2026-01-31T23:00:00Z')", "object.metadata.creationTimestamp.getMonth() == 0",
			"request.time.getHours() == 12", "request.time.getDayOfWeek() == 0", "request.time - object.metadata.creationTimestamp > duration('24h')",
		},
		"containers of all kinds": {
			"containers(object.spec).size() == 4",
			"containers(object.spec).map(c, c.name)[0] == 'init' && containers(object.spec).map(c, c.name)[1] == 'app'",
			"containers(object.spec)[3].name == 'debug'", "!containers(object.spec).all(c, c.image.startsWith('registry.example/'))",
			"containers(oldObject.spec).size() == 0", "object.spec.ephemeralContainers[0].targetContainerName == 'app'",
		},
		"the request": {
			"request.hook == 'admit'", "request.operation == 'UPDATE'", "request.source == 'manifests'", "request.kind == 'file'",
			"request.document == 'web.yaml#0'", "request.replaces == ''", "request.tenant == 'a'", "request.node == 'node-1'",
			"request.time == timestamp('2026-03-01T12:30:15Z')", "request.clockSynchronized", "'images' in request.changed",
			"request.changed.size() == 2",
		},
		"patterns": {
			"object.spec.containers[0].image.matches('^registry[.]example/[a-z]+:[0-9]+$')", "!object.metadata.name.matches('^[A-Z]')",
			"matches(object.metadata.name, 'we')",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, expression := range expressions {
				matched, _, err := compiled(t, expression).Matches(NewInput(webRequest()))
				if err != nil {
					t.Errorf("%s\n%v", expression, err)
				} else if !matched {
					t.Errorf("%s\nis false", expression)
				}
			}
		})
	}
}

func TestTheOldPodIsReadLikeThePod(t *testing.T) {
	t.Parallel()
	r := webRequest()
	r.OldObject = webPod()
	r.OldObject.Labels["tier"] = "old"
	c := compiled(t, "oldObject != null && oldObject.metadata.labels['tier'] == 'old' && object.metadata.labels['tier'] == 'web'")
	matched, _, err := c.Matches(NewInput(r))
	must(t, err)
	if !matched {
		t.Error("is false")
	}
}

func TestTheTimeIsReadAsPluginsSeeIt(t *testing.T) {
	t.Parallel()
	c := compiled(t, "request.time == timestamp('2026-03-01T12:30:15.123Z')")
	for name, at := range map[string]time.Time{
		"in milliseconds": testTime.Add(123*time.Millisecond + 456*time.Microsecond),
		"in UTC":          testTime.Add(123 * time.Millisecond).In(time.FixedZone("", -7200)),
	} {
		matched, _, err := c.Matches(NewInput(Request{Time: at}))
		if err != nil || !matched {
			t.Errorf("not %s: %v", name, err)
		}
	}
	early := compiled(t, "request.time.getHours() == 12")
	if matched, _, err := early.Matches(NewInput(Request{Time: testTime.In(time.FixedZone("", -7200))})); err != nil || !matched {
		t.Errorf("hours are not those of UTC: %v", err)
	}
}

func TestWithoutAPodAllReadsAsNotSet(t *testing.T) {
	t.Parallel()
	c := compiled(t, "object == null && object.spec.containers.size() == 0 && containers(object.spec).size() == 0 && object.metadata.name == ''")
	matched, _, err := c.Matches(NewInput(Request{}))
	must(t, err)
	if !matched {
		t.Error("is false")
	}
}

// TestEveryFieldCanBeReadWhereNothingIsSet also checks that a field that no expression can
// read is left out on purpose.
func TestEveryFieldCanBeReadWhereNothingIsSet(t *testing.T) {
	t.Parallel()
	l, err := theLanguage()
	must(t, err)
	if len(l.vocabulary.byName) < 100 {
		t.Fatalf("only %d types were found", len(l.vocabulary.byName))
	}
	for name, s := range l.vocabulary.byName {
		for field, f := range s.fields {
			if f.IsSet(s.zero.Addr().Interface()) {
				t.Errorf("%s.%s is set in the zero value", name, field)
			}
			got, err := f.GetFrom(s.zero.Addr().Interface())
			if err != nil {
				t.Errorf("%s.%s: %v", name, field, err)
				continue
			}
			if v := l.vocabulary.NativeToValue(got); v.Type().TypeName() == "error" {
				t.Errorf("%s.%s reads as %v", name, field, v)
			}
		}
	}
}

func TestFieldsAreThoseOfTheManifest(t *testing.T) {
	t.Parallel()
	l, err := theLanguage()
	must(t, err)
	for name, want := range map[string]string{
		"Pod":                  "metadata spec",
		"Request":              "changed clockSynchronized connection document hook kind node operation replaces source tenant time",
		"EphemeralContainer":   "targetContainerName",
		"Volume":               "name hostPath csi projected",
		"ConfigMapKeySelector": "key name optional",
	} {
		got := l.vocabulary.byName[name].names()
		for field := range strings.FieldsSeq(want) {
			if !slices.Contains(got, field) {
				t.Errorf("%s has no field %s", name, field)
			}
		}
		if (name == "Pod" || name == "Request") && len(got) != len(strings.Fields(want)) {
			t.Errorf("%s has the fields %v, want %s", name, got, want)
		}
	}
	if slices.Contains(l.vocabulary.byName["ObjectMeta"].names(), "managedFields") {
		t.Error("managedFields can be read")
	}
	if _, shown := l.vocabulary.byName["PodStatus"]; shown {
		t.Error("the status can be read")
	}
}

func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	r := webRequest()
	r.OldObject = webPod()
	before, old := r.Object.DeepCopy(), r.OldObject.DeepCopy()
	in := NewInput(r)
	for _, expression := range []string{
		"object.spec.containers[0].resources.requests.exists(k, object.spec.containers[0].resources.requests[k] == '1Gi')",
		"object.spec.securityContext.runAsNonRoot || oldObject.spec.volumes[1].emptyDir.sizeLimit == '1Gi'",
		"containers(object.spec).map(c, c.name).filter(c, c != '').size() > 0 && object.metadata.labels.exists(k, k == '')",
		"object.spec.containers.map(c, c).size() == 2",
	} {
		_, _, err := compiled(t, expression).Matches(in)
		must(t, err)
	}
	if diff := cmp.Diff(before, r.Object); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(old, r.OldObject); diff != "" {
		t.Error(diff)
	}
	// A quantity caches its text when the text is read.
	if memory := r.Object.Spec.Containers[0].Resources.Requests["memory"]; memory != before.Spec.Containers[0].Resources.Requests["memory"] {
		t.Error("a quantity was written")
	}
	if *r.OldObject.Spec.Volumes[1].EmptyDir.SizeLimit != *old.Spec.Volumes[1].EmptyDir.SizeLimit {
		t.Error("a quantity was written")
	}
	l, err := theLanguage()
	must(t, err)
	for name, s := range l.vocabulary.byName {
		if !s.zero.IsZero() {
			t.Errorf("the zero %s was written", name)
		}
	}
}

func TestAnEvaluationFailsWhere(t *testing.T) {
	t.Parallel()
	long := webRequest()
	long.Object.Annotations["long"] = strings.Repeat("x", maxText+1)
	long.Object.Spec.Containers[0].Args[1] = strings.Repeat("x", maxText+1)
	long.Object.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
		"exponent": resource.MustParse("1e1000000"), "digits": resource.MustParse("1111111111111111111111e10000"),
	}
	for name, test := range map[string]struct{ expression, want string }{
		"a quantity of the pod is large": {
			"object.spec.containers[0].resources.limits['exponent'] == '1'", "the quantity is too large or too exact; conditions read 64 digits at most",
		},
		"a quantity of the pod has many digits": {
			"object.spec.containers[0].resources.limits['digits'] == '1'", "the quantity is too large or too exact",
		},
		"a map has no such entry": {
			"object.metadata.labels['nothing'] == ''",
			"the condition object.metadata.labels['nothing'] == '': no such key: nothing; ask with in whether it is there",
		},
		"a list has no such element": {"object.spec.containers[7].name == ''", "index out of bounds: 7"},
		"a list has no negative one": {"object.spec.containers[-1].name == ''", "index out of bounds: -1"},
		"a text is too long":         {"object.metadata.annotations['long'] == ''", "a text of 65537 bytes is too long; conditions read 65536 at most"},
		"an element is too long":     {"object.spec.containers[0].args.exists(a, a == 'x')", "a text of 65537 bytes is too long"},
		"what is looked through is too long": {
			"'x' in object.spec.containers[0].args", "a text of 65537 bytes is too long",
		},
		"a quantity is none":           {"quantity(object.metadata.name) < quantity('1')", `"web" is no quantity; write it as 500m, 2 or 1Gi`},
		"a quantity is hostile":        {"quantity(object.metadata.name + '1e999999999') < quantity('1')", "its exponent has more than two digits"},
		"a quantity is long":           {"quantity('1' + '00000000000000000000000000000000') < quantity('1')", "it is longer than 32 bytes"},
		"a number is none":             {"int(object.metadata.name) == 1", "type conversion error from 'string' to 'int'"},
		"something is divided by zero": {"1 / (object.metadata.generation - 3) == 1", "division by zero"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matched, cost, err := compiled(t, test.expression).Matches(NewInput(long))
			if err == nil || matched || cost == 0 {
				t.Fatalf("matches %t for %d: %v", matched, cost, err)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.expression[:20]) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}
