package privateruntime

// Status tells what is known of a runtime of the machine.
type Status struct {
	Name string
	// Endpoint is the CRI endpoint, unix:///....
	Endpoint string
	Dir      string
	Subnet   string
	// Repository is the checkout it was started from.
	Repository string
	// PID is containerd's process; 0 when it is dead.
	PID int
	// Ready tells that it came up whole; false while it starts, or when starting was cut short.
	Ready bool
}

// List returns all runtimes of the machine, by name.
func List() ([]Status, error) {
	names, err := listNames()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, name := range names {
		known, err := readInstance(name)
		if err != nil {
			all = append(all, Status{Name: name})
			continue
		}
		running, err := known.daemons()
		if err != nil {
			return nil, err
		}
		status := Status{
			Name: name, Endpoint: known.endpoint(), Dir: known.Dir, Subnet: known.Subnet.String(),
			Repository: known.Repository, Ready: known.Ready,
		}
		if len(running) > 0 {
			status.PID = running[0].pid
		}
		all = append(all, status)
	}
	return all, nil
}
