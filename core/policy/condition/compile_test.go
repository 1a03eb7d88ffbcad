package condition

import (
	"strings"
	"testing"
	"time"
)

func TestAnExpressionIsRefused(t *testing.T) {
	t.Parallel()
	const port = "object.spec.containers[0].livenessProbe.httpGet.port"
	for name, test := range map[string]struct{ expression, want string }{
		"that is empty":             {" \n", "the condition is empty; leave it out"},
		"that is too long":          {"true" + strings.Repeat(" && true", 600), "the condition has 4804 bytes, 4096 are allowed; split it"},
		"that is no UTF-8":          {"object.metadata.name == '\xff'", "not valid UTF-8"},
		"that is nested too deeply": {strings.Repeat("!(", 200) + "true" + strings.Repeat(")", 200), "the condition is nested more than 64 deep; split it"},
		"that is a chain too long":  {"1" + strings.Repeat("+1", 100) + " > 0", "the condition is nested more than 64 deep; split it"},
		"that ends too early":       {"object.spec.hostNetwork ==", "column 27: Syntax error: mismatched input '<EOF>'"},
		"that is not closed":        {"object.metadata.name == 'x", "column 25: Syntax error"},
		"that gives a text":         {"object.metadata.name", "the condition returns string; it must return true or false"},
		"that gives a port":         {port, "the condition returns dyn; it must return true or false"},
		"that gives a list":         {"object.spec.containers", "the condition returns list(Container); it must return true or false"},

		"with an unknown field":              {"object.spec.hostNetwrk", "column 12: PodSpec has no field hostNetwrk; did you mean hostNetwork?"},
		"with an unknown field of elements":  {"object.spec.containers.all(c, c.imag == '')", "column 32: Container has no field imag; did you mean image?"},
		"with a field like no other":         {"object.spec.zzzzzzzzzz", "column 12: PodSpec has no field zzzzzzzzzz"},
		"with two unknown fields":            {"object.spec.hostNetwrk || object.metadata.nme == ''", "column 12: PodSpec has no field hostNetwrk; did you mean hostNetwork?"},
		"with an unknown field of two types": {"object.spec.nme == object.metadata.nme", "column 12: there is no field nme"},
		"with an unknown field read again":   {"object.spec.nme == object.spec.nme", "column 12: PodSpec has no field nme"},
		"with a variable named recursion":    {"recursion", "column 1: there is no variable or function recursion"},
		"with choices nested too deeply":     {"true" + strings.Repeat(" ? true : true", 70), "the condition is nested more than 64 deep; split it"},
		"with the status":                    {"object.status.phase == 'Running'", "column 7: Pod has no field status"},
		"with the API version":               {"object.apiVersion == 'v1'", "column 7: Pod has no field apiVersion"},
		"with managed fields":                {"object.metadata.managedFields.size() == 0", "column 16: ObjectMeta has no field managedFields"},
		"with an unknown field of requests":  {"request.operatin == 'ADD'", "column 8: Request has no field operatin; did you mean operation?"},
		"with an unknown variable":           {"objct.spec.hostNetwork", "column 1: there is no variable or function objct; did you mean object?"},
		"with an unknown function":           {"container(object.spec).size() > 0", "there is no variable or function container; did you mean containers?"},
		"with an unknown field on a line":    {"object.spec.hostNetwork ||\n  object.spec.hostPIDs", "line 2, column 14: PodSpec has no field hostPIDs; did you mean hostPID?"},
		"with a field of a text":             {"object.metadata.name.size == 1", "column 21: type 'string' does not support field selection"},
		"with a field of a port":             {port + ".x == 1", "column 53: an int or a string has no field x"},
		"with a field by index":              {"object['spec'].hostNetwork", "column 7: [] cannot be applied to (Pod, string)"},
		"with operands of different types":   {"object.metadata.name == 1", "column 22: == cannot be applied to (string, int)"},
		"with a number where a flag must be": {"object.metadata.generation && true", "column 16: expected type 'bool' but found 'int'"},

		"with a clock":                {"now() > request.time", "there is no variable or function now"},
		"with a time zone":            {"request.time.getHours('Europe/Berlin') == 1", "column 22: getHours cannot be applied to timestamp.(string)"},
		"with a type":                 {"type(object.metadata.name) == string", "there is no variable or function type"},
		"with dyn":                    {"dyn(1) == 1", "there is no variable or function dyn"},
		"with a map":                  {"{'a': 1}['a'] == 1", "column 1: a map cannot be written in a condition"},
		"with an object":              {"Pod{}.metadata.name == ''", "an object cannot be made in a condition"},
		"with a message":              {"google.protobuf.Int64Value{value: 1} == 1", "there is no variable or function google.protobuf.Int64Value"},
		"with a computed pattern":     {"object.metadata.name.matches(object.metadata.namespace)", "column 45: a regular expression must be written as a text"},
		"with a pattern of two parts": {"object.metadata.name.matches('a' + 'b')", "a regular expression must be written as a text"},
		"with a wrong pattern":        {"object.metadata.name.matches('(')", "column 30: error parsing regexp: missing closing ): `(`"},
		"with a long pattern":         {"object.metadata.name.matches('" + strings.Repeat("a", 257) + "')", "the regular expression is longer than 256 bytes"},
		"with a pattern of many steps": {
			"object.metadata.name.matches('(a{1,30}){1,30}')", "column 30: the regular expression is too large: ",
		},

		"that compares objects":            {"object == oldObject", "column 8: objects, lists and maps cannot be compared"},
		"that compares lists":              {"object.spec.containers[0].args == ['x']", "column 32: objects, lists and maps cannot be compared"},
		"that compares maps":               {"object.metadata.labels != oldObject.metadata.labels", "objects, lists and maps cannot be compared"},
		"that compares a time with null":   {"object.metadata.creationTimestamp == null", "column 35: only objects can be null; use has(...)"},
		"that looks for a list":            {"[1] in [[1]]", "in looks for simple values only"},
		"that looks for an object":         {"object.spec.containers[0] in object.spec.containers", "in looks for simple values only"},
		"that looks in a port":             {"1 in " + port, "the right side of in must be a list or a map"},
		"that looks for a port in a map":   {port + " in object.metadata.labels", "an int or a string cannot be used here"},
		"that adds lists":                  {"(object.spec.containers + object.spec.containers).size() == 4", "column 25: lists cannot be added"},
		"that adds ports":                  {port + " + " + port + " == 2", "an int or a string cannot be used here; convert it with int(...)"},
		"that orders ports":                {port + " < 1024", "an int or a string cannot be used here; convert it with int(...)"},
		"that takes a port as a flag":      {port + " && true", "an int or a string cannot be used here"},
		"that decides by a port":           {"(" + port + " ? 1 : 2) == 1", "an int or a string cannot be used here"},
		"that takes the size of a port":    {"size(" + port + ") == 1", "an int or a string cannot be used here"},
		"that hides a list in a port":      {"(true ? " + port + " : [1]) == 1", "values of different types"},
		"that hides a list among ports":    {"[" + port + ", [1]].exists(x, x == 1)", "values of different types"},
		"that hides lists in lists":        {"(true ? [" + port + "] : [[1]]).exists(x, x == 1)", "values of different types"},
		"that goes through a port":         {port + ".all(x, true)", "only lists and maps can be gone through"},
		"that goes through a map it chose": {"(true ? object.metadata.labels : object.metadata.annotations).all(k, true)", "only a map of the pod itself can be gone through"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(test.expression)
			switch {
			case err == nil:
				t.Fatal("no error")
			case !strings.Contains(err.Error(), test.want):
				t.Errorf("%v\nwant %s", err, test.want)
			case strings.ContainsAny(err.Error(), "\n\r\t"):
				t.Errorf("%q is not one line", err.Error())
			case len(err.Error()) > 600:
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestAnExpressionMayBe(t *testing.T) {
	t.Parallel()
	for name, expression := range map[string]string{
		"as long as is allowed": "true" + strings.Repeat(" ", MaxBytes-4),
		"many alternatives":     "false" + strings.Repeat(" || object.metadata.name == 'x'", 120),
		"nested loops":          "object.spec.containers.all(a, object.spec.containers.exists(b, a.name == b.name))",
		"about limits":          "containers(object.spec).all(c, c.resources.limits.exists(k, k == 'memory') && has(c.resources.limits.cpu))",
		"about privilege":       "containers(object.spec).all(c, c.securityContext == null || (!c.securityContext.privileged && c.securityContext.capabilities.add.all(a, a in ['CHOWN', 'KILL'])))",
		"about volumes":         "object.spec.volumes.all(v, v.hostPath == null || ['/etc', '/run'].exists(p, v.hostPath.path.startsWith(p)))",
		"about what changed":    "request.operation == 'UPDATE' && object.spec.containers.exists(c, !oldObject.spec.containers.exists(o, o.name == c.name && o.image == c.image))",
		"about sizes":           "object.spec.volumes.filter(v, has(v.emptyDir)).all(v, has(v.emptyDir.sizeLimit) && quantity(v.emptyDir.sizeLimit) <= quantity('1Gi'))",
		"on several lines":      "object.spec.hostNetwork ||\n\t// a remark\n\tobject.spec.hostPID",
		"in brackets":           strings.Repeat("(", 20) + "true" + strings.Repeat(")", 20),
	} {
		if c, err := Compile(expression); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if c.String() != expression {
			t.Errorf("%s: the condition is shown as %s", name, c)
		}
	}
}

// TestCompilingIsBounded compiles expressions that take a parser or a checker long: one part
// repeated many times.
func TestCompilingIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"(", "[", "!", "-", "a.", "a[", "{a:", "a?", "a?b:", "true?true:", "1+", "a&&", "a||b&&", "f(", "a.f(", "has(", "'", "\"", "'''", "b'", "r'\\",
		"[1].map(x,", "[[1].map(x,x)].map(y,", "a.all(a,", "1<", "1==", "in ", "1 in [", "`", "@", "//", "\n", "0x", "1e", "\u20ac", "a.b.c.d(", "Pod{metadata:", "x.x", ".map(x,[x,x])",
	} {
		for _, ending := range []string{"", "true", "1" + strings.Repeat(")", 2000)} {
			expression := strings.Repeat(unit, (MaxBytes-len(ending))/len(unit)) + ending
			begin := time.Now()
			_, err := Compile(expression)
			if took := time.Since(begin); took > patience {
				t.Errorf("%.20q…: it took %v", expression, took)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%.20q…: %v", expression, err)
			}
		}
	}
}
