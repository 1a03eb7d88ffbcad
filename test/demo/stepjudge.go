package main

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/harness"
)

func (t *tour) denyPod(ctx context.Context) error {
	if err := t.drop(other, otherImage); err != nil {
		return err
	}
	var reason string
	err := observe(ctx, "pod "+nameOf(other)+" is denied", func(ctx context.Context) error {
		pods, err := t.node.pods(ctx)
		if err != nil {
			return err
		}
		p, ok := pods[nameOf(other)]
		if !ok {
			return fmt.Errorf("the agent knows no pod %s", nameOf(other))
		}
		if p.Status.Phase != v1.PodFailed || !names(p.Status.Message, otherImage) {
			return fmt.Errorf("pod %s is %s", p.Name, strings.Join(summary(&p), ", "))
		}
		reason = p.Status.Reason
		return nil
	})
	if err != nil {
		return err
	}
	made, err := t.node.sandboxes(ctx, nameOf(other))
	if err != nil {
		return err
	}
	if made > 0 {
		return fmt.Errorf("the runtime has %d sandboxes of the denied pod", made)
	}
	return t.showPods(ctx, row{pod: other, status: reason, restarts: "0", note: []string{"denied", harness.Policy, otherImage}})
}

// names reports whether a message names the policy that decided, and the image.
func names(message, image string) bool {
	return strings.Contains(message, harness.Policy) && strings.Contains(message, image)
}

func (t *tour) editPolicy(ctx context.Context) error {
	allow := []string{"registry.example/*", "untrusted.example/*"}
	t.out.act("%s: allow = [%q, %q]", t.node.Path("policies", harness.Policy+".toml"), allow[0], allow[1])
	if err := t.node.Allow(allow...); err != nil {
		return err
	}
	var err error
	// If the agent had exited, for example for a restart, every question to it here would return an
	// error.
	t.other, _, err = t.whenRunning(ctx, expectation{pod: other, image: otherImage})
	if err != nil {
		return err
	}
	if _, _, err := t.running(ctx, t.webAsItWas(0)); err != nil {
		return err
	}
	return t.showPods(ctx, row{pod: other, status: "Running", restarts: "0"})
}

// webAsItWas expects that the first pod still runs in the container that was observed last.
func (t *tour) webAsItWas(restarts int32) expectation {
	return expectation{pod: web, image: webImage, restarts: restarts, container: t.web}
}

func (t *tour) keepPod(ctx context.Context) error {
	if err := t.drop(web, forbiddenImage); err != nil {
		return err
	}
	if err := observe(ctx, "the new version of pod "+nameOf(web)+" is denied", t.updateDenied); err != nil {
		return err
	}
	var p v1.Pod
	err := remains(ctx, "the old version of pod "+nameOf(web), func(ctx context.Context) (err error) {
		_, p, err = t.running(ctx, t.webAsItWas(0))
		return err
	})
	if err != nil {
		return err
	}
	why := []string{"new version", "denied", harness.Policy, forbiddenImage}
	if err := t.showPods(ctx, row{pod: web, status: "Running", restarts: "0", note: why, noteOnly: true}); err != nil {
		return err
	}
	t.showAnswer(&p, "from container "+t.web.short()+" as before")
	return nil
}

// updateDenied checks that the first pod's status says that a newer version was denied, and why.
func (t *tour) updateDenied(ctx context.Context) error {
	pods, err := t.node.pods(ctx)
	if err != nil {
		return err
	}
	p := pods[nameOf(web)]
	for _, c := range p.Status.Conditions {
		if c.Type == api.ConditionUpdateAdmitted && c.Status == v1.ConditionFalse && names(c.Message, forbiddenImage) {
			return nil
		}
	}
	return fmt.Errorf("pod %s is %s, with no condition %s that names policy and image",
		nameOf(web), strings.Join(summary(&p), ", "), api.ConditionUpdateAdmitted)
}
