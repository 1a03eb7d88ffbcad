// Package pluginlog logs what plugins write, within bounds.
//
// Inputs: lines, each with the tenant of the pod that the plugin is asked about.
// Outputs: log records with the name of the policy, and one that says how many
// lines were dropped. A plugin has a budget for the pods of each tenant, and all
// plugins together share one for each tenant.
//
// The package starts no goroutine. Log and Shares are safe for concurrent use;
// Lines belongs to one call.
package pluginlog
