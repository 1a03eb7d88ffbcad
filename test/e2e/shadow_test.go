//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"
)

func TestACandidateIsComparedAndThenTakesThePlaceOfThePolicy(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "shadow")
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne, webTwo))
	const candidate = "mode = \"shadow\"\n[shadow]\nmax_difference = 0.4\nmin_decisions = 2\nmin_time = \"0s\"\n"
	a.place(t, "next.toml", document("allowed-images", "admit", example(t, "allowed-images"), candidate+allow(webOne)))
	a.start(t)

	refused := func(words ...string) {
		t.Helper()
		if out, err := a.wardlet("policy", "promote", "allowed-images"); err == nil || contains(err.Error(), words...) != nil {
			t.Errorf("promote: %v, want %q; %s", err, words, out)
		}
	}
	a.manifest(t, "one.yaml", imagePod("one", webOne, ""))
	a.running(t, "one")
	a.says(t, "get policies", "1 of 2 decisions")
	refused("may not take the place of policy", "it was asked in 1 of 2 decisions")
	a.manifest(t, "two.yaml", imagePod("two", webTwo, ""))
	a.running(t, "two")
	a.says(t, "get policies -o json", `"different": 1`, `"inForce": "allow"`, `"candidate": "deny"`)
	refused("may not take the place of policy", "1 of 2")
	a.manifest(t, "three.yaml", imagePod("three", webOne, ""))
	a.running(t, "three")

	a.says(t, "policy promote allowed-images", "is now what", "next.toml was, which is removed")
	if _, err := os.Stat(a.Path("policies", "next.toml")); !os.IsNotExist(err) {
		t.Errorf("the candidate's document: %v", err)
	}
	a.says(t, "get policies", "generation 2")
	a.manifest(t, "four.yaml", imagePod("four", webTwo, ""))
	a.pod(t, "four", denied("ImageNotAllowed", `policy "allowed-images"`, webTwo))
	a.running(t, "one", "two", "three")
}

func TestAGroupLetsOneOfItsMembersBeEnough(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "group")
	a.withPolicies(t)
	const member = "mode = \"member\"\n"
	a.module(t, "first", example(t, "allowed-images"), member+allow(webOne))
	a.module(t, "second", example(t, "allowed-images"), member+allow(webTwo))
	a.place(t, "two.yaml", []byte(imagePod("two", webTwo, "")))
	group := func(expression, two string) {
		a.place(t, "either.toml", []byte(strings.Join([]string{
			`api = "wardlet.dev/v1"`, `name = "either"`, `expression = "` + expression + `"`, `message = "one of both"`,
			"[[test]]", `pod = "two.yaml"`, `expect = "` + two + `"`, "",
		}, "\n")))
	}
	group("first || second", "allow")
	a.start(t)
	a.manifest(t, "one.yaml", imagePod("one", webOne, ""))
	a.manifest(t, "two.yaml", imagePod("two", webTwo, ""))
	a.manifest(t, "evil.yaml", imagePod("evil", "untrusted.example/web:1", ""))
	a.running(t, "one", "two")
	evil := a.pod(t, "evil", denied("PolicyDenied", `policy "either": one of both: first says deny (ImageNotAllowed`, "second says deny"))
	a.says(t, "explain pod "+evil.Namespace+"/"+evil.Name, "policy first (counts in its groups): deny (ImageNotAllowed)", "policy either: deny (PolicyDenied)")
	a.says(t, "get policies", "either", "group")
	a.says(t, "policy replay", " 3 the same\n")

	group("first && second", "allow")
	a.says(t, "get policies", "either.toml:7: test.expect: two.yaml: want allow, got deny (one of both: first says deny (ImageNotAllowed: ")
	a.running(t, "one", "two")

	group("!first && !second", "deny")
	a.running(t, "evil", "one", "two")
}
