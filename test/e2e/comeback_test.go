//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// restartPolicies are all restart policies of pods.
var restartPolicies = []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever}

func TestAManifestThatIsMovedAwayAndBackIsANewLifeOfItsPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "back")
	a.start(t)
	manifests, files := map[string]string{}, []string{"job.yaml"}
	manifests["job.yaml"] = hostPod("job", "exit", "-code", `"0"`) + "  restartPolicy: Never\n"
	var names []string
	for _, policy := range restartPolicies {
		name := strings.ToLower(string(policy))
		names, files = append(names, name), append(files, name+".yaml")
		manifests[name+".yaml"] = hostPod(name, "sleep") + "  restartPolicy: " + string(policy) + "\n"
	}
	for file, content := range manifests {
		a.manifest(t, file, content)
	}
	before := a.running(t, names...)
	var job v1.Pod
	done := func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if job = pods["job-back"]; err == nil && job.Status.Phase != v1.PodSucceeded {
			err = fmt.Errorf("phase %q", job.Status.Phase)
		}
		return err
	}
	eventually(t, "the job is done", done)
	first := job
	for _, pause := range []time.Duration{0, 600 * time.Millisecond, 1200 * time.Millisecond, 2 * time.Second} {
		a.remove(t, files...)
		time.Sleep(pause)
		for file, content := range manifests {
			a.manifest(t, file, content)
		}
		eventually(t, "all run anew, "+pause.String()+" later", func(ctx context.Context) error {
			if err := done(ctx); err != nil {
				return err
			}
			if container(job) == container(first) && pause > 0 { // else the agent may not have seen that the pod was gone
				return errors.New("the job has not run again")
			}
			pods, err := a.pods(ctx)
			for _, name := range names {
				p := pods[name+"-back"]
				switch {
				case err != nil:
				case !ready(p):
					err = fmt.Errorf("%s is %s %s", name, p.Status.Phase, p.Status.Reason)
				case container(p) == container(before[name]) && pause > 0:
					err = fmt.Errorf("%s has not run again", name)
				case p.Status.ContainerStatuses[0].RestartCount != 0:
					err = fmt.Errorf("%s was restarted %d times", name, p.Status.ContainerStatuses[0].RestartCount)
				}
			}
			return err
		})
		first, before = job, a.running(t, names...)
	}
}

func TestARestartOfTheAgentChangesNoGracePeriod(t *testing.T) {
	t.Parallel()
	const grace = 20 * time.Second
	n := startNode(t)
	a := newAgent(t, n, "grace")
	a.start(t)
	stubborn := strings.Replace(hostPod("stubborn", "serve", "-port", fmt.Sprintf("%q", strconv.Itoa(freePort(t))), "-ignore-term"), "PeriodSeconds: 2", "PeriodSeconds: 20", 1)
	a.manifest(t, "stubborn.yaml", stubborn)
	uid := string(a.running(t, "stubborn")["stubborn"].UID)
	a.remove(t, "stubborn.yaml")
	told := time.Now()
	eventually(t, "it is told to end", func(context.Context) error {
		files, err := a.remembered(uid)
		for _, file := range files {
			if strings.Contains(file, "/endings/") {
				return nil
			}
		}
		return errors.Join(err, errors.New("no ending is on the disk"))
	})
	time.Sleep(3 * time.Second)
	a.kill()
	a.start(t)
	eventually(t, "it has ended", func(ctx context.Context) error { return a.forgotten(ctx, "stubborn", map[string]bool{uid: true}) })
	if took := time.Since(told); took < grace-2*time.Second || took > grace+8*time.Second {
		t.Errorf("it had %s, of %s", took, grace)
	}
	a.nothingLeft(t, n)
}
