package policy

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// isGroup reports whether the document is that of a group: it has an expression in place
// of a module.
func (d *document) isGroup() bool { return d.Expression != nil }

// tested are the hooks of which the document may have tests.
func (d *document) tested() []string {
	if d.isGroup() {
		return []string{api.HookAdmit}
	}
	return d.Hooks
}

// checkGroup reports what is wrong with a group, and which keys it cannot have.
func (d *document) checkGroup(report strict.Report) {
	var err error
	if d.expression, err = parseExpression(*d.Expression); err != nil {
		report("expression", "%v", err)
	}
	oneOf(report, "mode", d.Mode, modeEnforce, modeWarn, modeAudit, modeOff)
	oneOf(report, "on_change", d.OnChange, onChangeIgnore, onChangeReport, onChangeEvict)
	d.checkExceptions(report)
	d.checkTests(report)
	usual := defaultKeys()
	for key, stands := range map[string]bool{
		"module": d.Module != "", "sha256": d.SHA256 != "", "hooks": len(d.Hooks) > 0, "priority": d.Priority != usual.Priority,
		"on_error": d.OnError != usual.OnError, "mutable_paths": len(d.MutablePaths) > 0, "capabilities": len(d.Capabilities) > 0,
		"match": !d.Match.same(&usual.Match), "limits": d.Limits != usual.Limits, "settings": len(d.Settings) > 0,
		"shadow": d.Shadow != usual.Shadow,
	} {
		if stands {
			report(key, "a group has none, its members do; leave it out, or leave expression out")
		}
	}
}

// checkMember reports what is wrong with a policy that counts only in groups.
func (d *document) checkMember(report strict.Report) {
	if d.Mode != modeMember {
		return
	}
	if len(d.Hooks) != 1 || d.Hooks[0] != api.HookAdmit {
		report("hooks", `a member of a group admits pods and does nothing else; want ["admit"]`)
	}
	if len(d.MutablePaths) > 0 {
		report("mutable_paths", "a member of a group changes no pod; leave it out, or change pods by a policy of its own")
	}
	if d.OnChange != onChangeIgnore {
		report("on_change", "a member of a group has no say alone; leave it out, and set it for the group")
	}
}

// checkMembers puts down which names in a group's expression are those of no members.
func (d *document) checkMembers(all map[string]*document) {
	for _, name := range d.expression.names() {
		switch member := all[name]; {
		case member == nil:
			d.complain("expression", "there is no policy %q in this directory; write its document, or take the name out", name)
		case member.isGroup():
			d.complain("expression", "%q is a group itself; write what it says in parentheses", name)
		case member.Mode != modeMember:
			d.complain("expression", `policy %q has the mode %q; set mode = "member" in %s, so that it counts only in groups`, name, member.Mode, printable.Line(member.path))
		}
	}
}
