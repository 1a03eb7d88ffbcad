package spec

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// IsGroup reports whether the document describes a group, which has an expression instead
// of a module.
func (d *Document) IsGroup() bool { return d.Expression != nil }

// TestHooks returns the hooks that tests of the document may name.
func (d *Document) TestHooks() []string {
	if d.IsGroup() {
		return []string{api.HookAdmit}
	}
	return d.Hooks
}

// checkGroup reports errors of a group, and the keys that it cannot have.
func (d *Document) checkGroup(report strict.Report) {
	var err error
	if d.Group, err = parseExpression(*d.Expression); err != nil {
		report("expression", "%v", err)
	}
	oneOf(report, "mode", d.Mode, ModeEnforce, ModeWarn, ModeAudit, ModeOff)
	oneOf(report, "on_change", d.OnChange, OnChangeIgnore, onChangeReport, OnChangeEvict)
	d.checkExceptions(report)
	d.checkTests(report)
	usual := defaultKeys()
	for key, stands := range map[string]bool{
		"module": d.Module != "", "sha256": d.SHA256 != "", "hooks": len(d.Hooks) > 0, "priority": d.Priority != usual.Priority,
		"on_error": d.OnError != usual.OnError, "mutable_paths": len(d.MutablePaths) > 0, "capabilities": len(d.Capabilities) > 0,
		"match": !d.Match.Same(&usual.Match), "limits": d.Limits != usual.Limits, "settings": len(d.Settings) > 0,
		"shadow": d.Shadow != usual.Shadow,
	} {
		if stands {
			report(key, "a group has none, its members do; leave it out, or leave expression out")
		}
	}
}

// checkMember reports errors of a policy that counts only in groups.
func (d *Document) checkMember(report strict.Report) {
	if d.Mode != ModeMember {
		return
	}
	if len(d.Hooks) != 1 || d.Hooks[0] != api.HookAdmit {
		report("hooks", `a member of a group admits pods and does nothing else; want ["admit"]`)
	}
	if len(d.MutablePaths) > 0 {
		report("mutable_paths", "a member of a group changes no pod; leave it out, or change pods by a policy of its own")
	}
	if d.OnChange != OnChangeIgnore {
		report("on_change", "a member of a group has no say alone; leave it out, and set it for the group")
	}
}

// CheckMembers adds a fault for each name in a group's expression that is not a member.
func (d *Document) CheckMembers(all map[string]*Document) {
	for _, name := range d.Group.Names() {
		switch member := all[name]; {
		case member == nil:
			d.Complain("expression", "there is no policy %q in this directory; write its document, or take the name out", name)
		case member.IsGroup():
			d.Complain("expression", "%q is a group itself; write what it says in parentheses", name)
		case member.Mode != ModeMember:
			d.Complain("expression", `policy %q has the mode %q; set mode = "member" in %s, so that it counts only in groups`, name, member.Mode, printable.Line(member.Path))
		}
	}
}
