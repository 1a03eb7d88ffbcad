// Package pluginlog logs what plugins write, within bounds.
//
// Inputs: lines, each with the tenant of the pod that the plugin is asked about. Outputs:
// log records with the name of the policy. If lines were dropped, a record says how many.
// For the pods of each tenant, each plugin has a budget of its own, and all plugins
// together share another budget.
//
// The package starts no goroutine. Log and Shares are safe for concurrent use;
// Lines belongs to one call.
package pluginlog
