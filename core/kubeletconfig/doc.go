// Package kubeletconfig says in the words of agent.toml what the configuration of a kubelet says.
//
// Comes in: the command line of a kubelet, and what it names: a KubeletConfiguration
// (kubelet.config.k8s.io/v1beta1) and a directory of drop-in files. Goes out: the text of an agent.toml, and a finding, with
// file and line, for each field that the agent does not honour. The package has no goroutine.
//
// A field is in one of four groups. Most set keys of agent.toml. Some describe what the agent always
// does; with another value they are a warning, or an error if pods would be less safe or would run
// differently without anybody noticing. Some have no effect on pods, such as a format of logs, and
// are ignored. Fields that v1beta1 does not have are errors, as with a kubelet.
package kubeletconfig
