// Package kubeletconfig compares what core/kubeletconfig and core/runtime/criconfig know of a kubelet with the kubelet.
package kubeletconfig

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	defaults "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/kubeletconfig"
)

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

// A kubelet's defaults are accepted. The only warnings are about what a node needs files for, and
// about images, for which a kubelet has a rule of its own.
func TestRead_defaults(t *testing.T) {
	t.Parallel()
	var k kubelet.KubeletConfiguration
	defaults.SetDefaults_KubeletConfiguration(&k)
	text, err := yaml.Marshal(&k)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubeletconfig.Parse("config.yaml", []byte(head+string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Warnings {
		if w.Key != "" && w.Key != "imagePullCredentialsVerificationPolicy" {
			t.Errorf("warning %v", w)
		}
	}
}

// Each field of v1beta1 is known.
func TestRead_knowsEachField(t *testing.T) {
	t.Parallel()
	var check func(of reflect.Type, at string)
	fields := 0
	check = func(of reflect.Type, at string) {
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "logging" || name == "tracing" || name == "userNamespaces" {
				continue // the type, and fields that are converted as a whole
			}
			kind := field.Type
			if kind.Kind() == reflect.Struct && strings.HasPrefix(kind.PkgPath(), "k8s.io/kubelet/") {
				check(kind, at+name+".")
				continue
			}
			fields++
			parts := strings.Split(at+name, ".")
			value := " x"
			if kind.Kind() == reflect.Map {
				value = " {x: x}"
			}
			text := head + nested(parts) + value + "\n"
			if _, err := kubeletconfig.Parse("config.yaml", []byte(text)); err != nil && strings.Contains(err.Error(), "is no field") {
				t.Errorf("%v", err)
			}
		}
	}
	check(reflect.TypeFor[kubelet.KubeletConfiguration](), "")
	if fields < 100 {
		t.Errorf("%d fields were compared", fields)
	}
}

// Each flag of a kubelet is known.
func TestParseCommand_knowsEachFlag(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	options.NewKubeletFlags().AddFlags(flags)
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		t.Fatal(err)
	}
	options.AddKubeletConfigFlags(flags, config)
	options.AddGlobalFlags(flags)
	n := 0
	flags.VisitAll(func(f *pflag.Flag) {
		n++
		if _, err := kubeletconfig.ParseCommand([]string{"--" + f.Name + "=x"}); err != nil && strings.Contains(err.Error(), "unknown flag") {
			t.Errorf("%v", err)
		}
		// A flag without a value is one in both programs or in none.
		_, err := kubeletconfig.ParseCommand([]string{"--" + f.Name})
		if needs := err != nil && strings.Contains(err.Error(), "needs an argument"); f.NoOptDefVal != "" && needs {
			t.Errorf("--%s: %v", f.Name, err)
		}
	})
	if n < 100 {
		t.Errorf("%d flags were compared", n)
	}
}

// nested returns the keys of path as YAML, each on a line of its own below the one before it.
func nested(path []string) string {
	var text strings.Builder
	for depth, key := range path {
		if depth > 0 {
			text.WriteString("\n")
		}
		text.WriteString(strings.Repeat("  ", depth) + key + ":")
	}
	return text.String()
}
