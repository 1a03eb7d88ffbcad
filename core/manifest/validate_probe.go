package manifest

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateProbes checks the probes of a container. may is false for init containers that are not
// sidecars: they may have none.
func validateProbes(c *v1.Container, may bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, probe := range []struct {
		spec *v1.Probe
		name string
	}{{c.LivenessProbe, "livenessProbe"}, {c.ReadinessProbe, "readinessProbe"}, {c.StartupProbe, "startupProbe"}} {
		at := at.Child(probe.name)
		switch {
		case probe.spec == nil:
		case !may:
			errs = append(errs, field.Forbidden(at, "may not be set for init containers without restartPolicy=Always"))
		default:
			errs = append(errs, validateProbe(probe.spec, probe.name == "readinessProbe", at)...)
		}
	}
	return errs
}

// validateLifecycle checks the hooks and the stop signal of a container. may is false for init
// containers that are not sidecars: they may have none.
func validateLifecycle(s *v1.PodSpec, c *v1.Container, may bool, at *field.Path) field.ErrorList {
	if c.Lifecycle == nil {
		return nil
	}
	if !may {
		return field.ErrorList{field.Forbidden(at, "may not be set for init containers without restartPolicy=Always")}
	}
	grace, errs := *s.TerminationGracePeriodSeconds, validateStopSignal(s, c.Lifecycle.StopSignal, at.Child("stopSignal"))
	for _, hook := range []struct {
		spec *v1.LifecycleHandler
		name string
	}{{c.Lifecycle.PostStart, "postStart"}, {c.Lifecycle.PreStop, "preStop"}} {
		if hook.spec == nil {
			continue
		}
		at := at.Child(hook.name)
		errs = append(errs, validateHandler(&handlers{hook.spec.Exec, hook.spec.HTTPGet, hook.spec.TCPSocket, nil, hook.spec.Sleep}, at)...)
		if s := hook.spec.Sleep; s != nil && (s.Seconds < 0 || s.Seconds > grace) {
			errs = append(errs, field.Invalid(at.Child("sleep"), s.Seconds,
				fmt.Sprintf("must be 0 to terminationGracePeriodSeconds, which is %d", grace)))
		}
	}
	return errs
}

// validateStopSignal checks that a stop signal exists on the operating system that the pod names.
func validateStopSignal(s *v1.PodSpec, signal *v1.Signal, at *field.Path) field.ErrorList {
	switch {
	case signal == nil:
		return nil
	case s.OS == nil:
		return field.ErrorList{field.Forbidden(at, "may not be set for containers with empty `spec.os.name`")}
	case s.OS.Name == v1.Windows:
		return oneOf(at, *signal, v1.SIGKILL, v1.SIGTERM)
	case s.OS.Name == v1.Linux:
		return oneOf(at, *signal, linuxSignals()...)
	}
	return nil // validateOS reports the unknown system
}

// linuxSignals returns the stop signals that are allowed for a container.
func linuxSignals() []v1.Signal {
	signals := []v1.Signal{
		v1.SIGABRT, v1.SIGALRM, v1.SIGBUS, v1.SIGCHLD, v1.SIGCLD, v1.SIGCONT, v1.SIGFPE, v1.SIGHUP, v1.SIGILL, v1.SIGINT, v1.SIGIO,
		v1.SIGIOT, v1.SIGKILL, v1.SIGPIPE, v1.SIGPOLL, v1.SIGPROF, v1.SIGPWR, v1.SIGQUIT, v1.SIGSEGV, v1.SIGSTKFLT, v1.SIGSTOP,
		v1.SIGSYS, v1.SIGTERM, v1.SIGTRAP, v1.SIGTSTP, v1.SIGTTIN, v1.SIGTTOU, v1.SIGURG, v1.SIGUSR1, v1.SIGUSR2, v1.SIGVTALRM,
		v1.SIGWINCH, v1.SIGXCPU, v1.SIGXFSZ, v1.SIGRTMIN, v1.SIGRTMAX,
	}
	for i := 1; i <= 15; i++ {
		signals = append(signals, v1.Signal(fmt.Sprintf("%s+%d", v1.SIGRTMIN, i)))
	}
	for i := 1; i <= 14; i++ {
		signals = append(signals, v1.Signal(fmt.Sprintf("%s-%d", v1.SIGRTMAX, i)))
	}
	return signals
}

func validateProbe(p *v1.Probe, readiness bool, at *field.Path) field.ErrorList {
	errs := validateHandler(&handlers{p.Exec, p.HTTPGet, p.TCPSocket, p.GRPC, nil}, at)
	for _, number := range []struct {
		value int32
		name  string
	}{
		{p.InitialDelaySeconds, "initialDelaySeconds"},
		{p.TimeoutSeconds, "timeoutSeconds"},
		{p.PeriodSeconds, "periodSeconds"},
		{p.SuccessThreshold, "successThreshold"},
		{p.FailureThreshold, "failureThreshold"},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(number.value), at.Child(number.name))...)
	}
	if !readiness && p.SuccessThreshold != 1 {
		errs = append(errs, field.Invalid(at.Child("successThreshold"), p.SuccessThreshold, "must be 1"))
	}
	switch grace := p.TerminationGracePeriodSeconds; {
	case grace == nil:
	case readiness:
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *grace, "must not be set for readinessProbes"))
	case *grace <= 0:
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *grace, "must be greater than 0"))
	}
	return errs
}

// handlers are the handlers of a probe or a hook, which must have exactly one.
type handlers struct {
	exec  *v1.ExecAction
	http  *v1.HTTPGetAction
	tcp   *v1.TCPSocketAction
	grpc  *v1.GRPCAction
	sleep *v1.SleepAction
}

func validateHandler(h *handlers, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	count := 0
	one := func(name string) (*field.Path, bool) {
		if count++; count > 1 {
			errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 handler type"))
		}
		return at.Child(name), count == 1
	}
	if h.exec != nil {
		if at, ok := one("exec"); ok && len(h.exec.Command) == 0 {
			errs = append(errs, field.Required(at.Child("command"), ""))
		}
	}
	if h.http != nil {
		if at, ok := one("httpGet"); ok {
			errs = append(errs, validateHTTP(h.http, at)...)
		}
	}
	if h.tcp != nil {
		if at, ok := one("tcpSocket"); ok {
			errs = append(errs, validatePort(h.tcp.Port, at.Child("port"))...)
		}
	}
	if h.grpc != nil {
		if at, ok := one("grpc"); ok {
			errs = append(errs, invalid(at.Child("port"), h.grpc.Port, validation.IsValidPortNum(int(h.grpc.Port)))...)
		}
	}
	if h.sleep != nil {
		one("sleep")
	}
	if count == 0 {
		errs = append(errs, field.Required(at, "must specify a handler type"))
	}
	return errs
}

func validateHTTP(h *v1.HTTPGetAction, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if h.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	}
	errs = append(errs, validatePort(h.Port, at.Child("port"))...)
	errs = append(errs, oneOf(at.Child("scheme"), h.Scheme, v1.URISchemeHTTP, v1.URISchemeHTTPS)...)
	for i := range h.HTTPHeaders {
		name := h.HTTPHeaders[i].Name
		errs = append(errs, invalid(at.Child("httpHeaders"), name, validation.IsHTTPHeaderName(name))...)
	}
	return errs
}

// validatePort checks a port number, or the name of one of the container's ports.
func validatePort(port intstr.IntOrString, at *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return invalid(at, port.IntValue(), validation.IsValidPortNum(port.IntValue()))
	}
	return invalid(at, port.StrVal, validation.IsValidPortName(port.StrVal))
}
