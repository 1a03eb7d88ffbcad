package rivals

import (
	"fmt"

	"cel.dev/cel-go/cel"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// celRule is the rule as in a ValidatingAdmissionPolicy.
const celRule = `
has(object.metadata.labels) && 'app.kubernetes.io/name' in object.metadata.labels && 'team' in object.metadata.labels &&
(!has(object.spec.initContainers) || object.spec.initContainers.all(c, ` + celContainer + `)) &&
object.spec.containers.all(c, ` + celContainer + `) &&
(!has(object.spec.ephemeralContainers) || object.spec.ephemeralContainers.all(c, ` + celContainer + `))`

const celContainer = `
	has(c.image) && c.image.startsWith('registry.example/') &&
	(c.image.contains('@') || (c.image.contains(':') && !c.image.endsWith(':latest'))) &&
	has(c.securityContext) &&
	(!has(c.securityContext.privileged) || !c.securityContext.privileged) &&
	(!has(c.securityContext.allowPrivilegeEscalation) || !c.securityContext.allowPrivilegeEscalation) &&
	has(c.securityContext.runAsNonRoot) && c.securityContext.runAsNonRoot`

// CEL is the rule in cel-go.
type CEL struct {
	program cel.Program
	input   map[string]any
}

// NewCEL compiles the rule with cel-go's optimisations.
func NewCEL() (*CEL, error) {
	env, err := cel.NewEnv(cel.Variable("object", cel.DynType))
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(celRule)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
	return &CEL{program: program, input: map[string]any{}}, err
}

// Allowed evaluates a pod that has been converted before.
func (c *CEL) Allowed(object map[string]any) (bool, error) {
	c.input["object"] = object
	value, _, err := c.program.Eval(c.input)
	if err != nil {
		return false, err
	}
	allowed, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("the rule gives %v", value)
	}
	return allowed, nil
}

// Unstructured converts a pod to the form that CEL and Rego read.
func Unstructured(p *v1.Pod) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(p)
}
