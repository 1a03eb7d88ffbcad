package handler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Hook carries out a lifecycle hook, and fails where that fails. It takes as long as the hook does, or until ctx ends.
func (r *Runner) Hook(ctx context.Context, to Target, hook *v1.LifecycleHandler) error {
	switch {
	case hook.Exec != nil:
		output, code, err := r.Exec(ctx, to.ID, hook.Exec.Command, 0)
		if err == nil && code != 0 {
			err = fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(string(output[:min(len(output), maxOutput)])))
		}
		return err
	case hook.HTTPGet != nil:
		err := r.sendHook(ctx, to, hook.HTTPGet)
		if err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
			// Hooks once were sent over HTTP whatever they said; what is secret is not sent so.
			plain := hook.HTTPGet.DeepCopy()
			plain.Scheme, plain.HTTPHeaders = v1.URISchemeHTTP, nil
			for _, h := range hook.HTTPGet.HTTPHeaders {
				if !strings.EqualFold(h.Name, "Authorization") {
					plain.HTTPHeaders = append(plain.HTTPHeaders, h)
				}
			}
			err = r.sendHook(ctx, to, plain)
		}
		return err
	case hook.Sleep != nil:
		timer := time.NewTimer(time.Duration(hook.Sleep.Seconds) * time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("the hook names no handler that can be carried out: exec, httpGet or sleep")
}

// sendHook sends the request of a hook. Any answer counts as success, whatever it says.
func (r *Runner) sendHook(ctx context.Context, to Target, action *v1.HTTPGetAction) error {
	resp, err := r.send(ctx, to, action)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
