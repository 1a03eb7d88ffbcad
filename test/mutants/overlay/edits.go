package main

import (
	"fmt"
	"strings"
)

// An edit replaces the text before, which must occur exactly once in the file, by after. In after,
// {} stands for before.
type edit struct{ file, before, after string }

// edits add the faults to the product, by file. The functions that they call are in testdata.
var edits = []edit{
	{"core/mux/mux.go", "\tupdateSeq, changeSeq uint64\n", "{}\tseeded /* of mutants.go */ seeded\n"},
	{"core/mux/mux.go", "\treturn m.step(ctx, func(t *txn) outcome { return m.store.merge(d, t) })\n", "\tm.seeded.delivery(&d)\n{}"},
	{"core/mux/step.go", "\tm.persist(&out)\n", "\tm.seeded.outcome(&out)\n{}"},
	{"core/mux/step.go", "m.verdicts.put(q.ticket, v)", "m.verdicts.put(q.ticket, m.seeded.verdict(v))"},

	{"core/pleg/event.go", "\tdropped := 0\n", "\tevents = g.seeded.events(events)\n{}"},
	{"core/pleg/pleg.go", "\ntype Generator struct {\n", "{}\tseeded /* of mutants.go */ seeded\n"},
	{"core/pleg/inspect.go", "\t\tg.cfg.Cache.SetError(i.uid, i.err, i.at)\n", "{}\t\tg.seeded.inspected(g, rec, &i)\n"},
	{"core/pleg/inspect.go", "\t\tg.applyInspection(rec, i)\n", "{}\t\tg.seeded.inspected(g, rec, &i)\n"},
	{"core/pleg/relist.go", "\tg.round++\n", "\tg.seeded.listed(g, &l)\n{}"},

	{"core/probe/loop.go", "l.row < int(threshold)", `{} && !forgets("one result is not enough")`},
	{"core/probe/loop.go", "case started == (l.key.kind == Startup):", `case started == (l.key.kind == Startup) && !forgets("a container has to start first"):`},
	{"core/probe/loop.go", " = id, false, status.ProbeUnknown, 0, l.looked", ` = id, l.held && forgets("another container is another"), status.ProbeUnknown, 0, l.looked`},
	{"core/probe/loop.go", "\tm.due.add(l.uid)\n", "\tif !forgets(\"a worker has to act\") {\n{}\t}\n"},

	{"core/status/outcome.go", "\tkeepProbed(p, st, &out)\n", "\tif !forgets(\"what probes have found\") {\n{}\t}\n"},
	{"core/status/restart.go", "\tif matchingRule(c, exitCode) != nil {\n", "\tif forgets(\"the restart policy\") {\n\t\treturn true\n\t}\n{}"},
	{"core/status/restart.go", "\tready := 0\n", "\tif forgets(\"that a sandbox has to be ready\") {\n\t\treturn \"\"\n\t}\n{}"},

	{"core/syncloop/admit.go", "v.Answer != api.Allow", `{} && !forgets("policy has refused the pod")`},
	{"core/syncloop/admit.go", "past && !refused(m.verdict)", `(past || forgets("policy has refused the pod")) && !refused(m.verdict)`},
	{"core/syncloop/housekeeping.go", "len(l.orphans()) == 0", `{} || forgets("a pod runs for nobody")`},
	{"core/syncloop/housekeeping.go", "case has, arrives, m.recreated", `{}, forgets("a pod has no worker")`},
	{"core/syncloop/syncloop.go", "e.Type != pleg.ContainerRemoved", `{} && !forgets("the runtime tells of something")`},
	{"core/syncloop/syncloop.go", "if m, ok := l.pods.get(uid); ok", `{} && !forgets("a pod is due")`},
	{"core/syncloop/recreate.go", "m.recreated && !l.cfg.Workers.Has(uid)", `{} && !forgets("a pod has no worker")`},
	{"core/syncloop/housekeeping.go", "\tif name == \"\" {\n", "\tif forgets(\"a source has to be heard first\") {\n\t\treturn true\n\t}\n{}"},

	{"core/worker/execute.go", "return true, p.postStart(ctx, it, &run, id)", "if forgets(\"a hook after the start\") {\n\t\treturn true, nil\n\t}\n\t{}"},
	{"core/worker/initialize.go", "PreStop == nil || grace <= 0", `{} || forgets("a hook before the end")`},
	{"core/worker/initialize.go", "case newest.State == status.StateRunning && !sidecar:\n", "case newest.State == status.StateRunning && !sidecar && forgets(\"an init container has to end\"):\n\t\treturn initDone\n\t{}"},
	{"core/worker/initialize.go", "case !sidecar && !failed:", `case !sidecar && !failed && !forgets("an init container has ended well"):`},
	{"core/worker/initialize.go", "c.StartupProbe != nil && !of.hasStarted(c)", `{} && !forgets("a sidecar has to start")`},
	{"core/worker/kill.go", "\torderStops(about, stops)\n", "\tif !forgets(\"sidecars stop last\") {\n{}\t}\n"},
	{"core/worker/kill.go", "if anyFailed(s.after, stopped, errs) {", `if !forgets("another could not be stopped") && anyFailed(s.after, stopped, errs) {`},
	{"core/worker/kill.go", "return max(grace, 1)", "return seededGrace(current, max(grace, 1))"},
	{"core/worker/kill.go", "p.stopContainers(ctx, about, stops, grace)", "p.stopContainers(ctx, about, seededStops(stops), grace)"},
	{"core/worker/known.go", "orphan || rec.restartRequested", `{} && !forgets("the pod was created again")`},
	{"core/worker/publish.go", "\tif !ok {\n\t\treturn\n\t}\n\trec.terminalAtStart = ", "\tif !ok || forgets(\"how the pod ended\") {\n\t\treturn\n\t}\n\trec.terminalAtStart = "},
	{"core/worker/plan.go", "switch why := failed(newest.ID); {", "switch why := seededFailed(failed(newest.ID)); {"},
	{"core/worker/plan.go", "observed.Newest(c.Name) == nil {", "(observed.Newest(c.Name) == nil || forgets(\"an ephemeral container has run\") && observed.Newest(c.Name).State == status.StateExited) {"},
	{"core/worker/plan.go", "kept == 0 && len(a.Start) == before", `{} && !forgets("a pod that has ended")`},
	{"core/worker/plan.go", "running.Hash != hash(c)", `{} && !forgets("what a container runs as")`},
	{"core/worker/turn.go", "p.isTerminating(rec.replaces)", `{} && !forgets("another pod has to leave first")`},
	{"core/worker/turn.go", `rec.fullName != "" && (`, `rec.fullName != "" && !forgets("static pods of one name exclude each other") && (`},
	{"core/worker/syncpod.go", "\tif p.cfg.Terminations != nil && observed.Running() {\n", "\tif forgets(\"what runs has to be stopped\") {\n\t\treturn nil\n\t}\n{}"},
	{"core/worker/worker.go", "p.sync(ctx, it, rec.lastChange)", "p.sync(ctx, it, seededActed(rec.lastChange))"},
	{"core/worker/iteration.go", "p.queue.add(it.uid, p.retryDelay(err))", "p.queue.add(it.uid, seededDelay(p.retryDelay(err)))"},
	{"core/worker/request.go", "r.Kind == Create {\n\t\trec.restartRequested = true", "r.Kind == Create {\n\t\trec.restartRequested = !forgets(\"the pod is to come back\")"},
	{"core/worker/request.go", "\trec.restartRequested = true\n\treturn true\n", "\trec.restartRequested = !forgets(\"the pod is to come back\")\n\treturn true\n"},
}

// apply makes the edits of one file in its text. It is an error if an edit's text before does not
// occur exactly once: the source has changed, and the edit must be adapted.
func apply(file, text string) (string, error) {
	for _, e := range edits {
		if e.file != file {
			continue
		}
		if n := strings.Count(text, e.before); n != 1 {
			return "", fmt.Errorf("%s: the text %q stands there %d times, want once: adapt the edit in test/mutants/overlay/edits.go", file, e.before, n)
		}
		text = strings.Replace(text, e.before, strings.ReplaceAll(e.after, "{}", e.before), 1)
	}
	return text, nil
}
