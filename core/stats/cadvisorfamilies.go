package stats

import "slices"

// cadvisorLabels are the labels of every container's series in /metrics/cadvisor, in the order of
// scope.
var cadvisorLabels = []string{"container", "id", "image", "name", "namespace", "pod"}

// labelled returns the labels of a family with those of its own.
func labelled(more ...string) []string {
	return slices.Concat(cadvisorLabels, more)
}

// The families of /metrics/cadvisor, with the names and labels of cAdvisor.
var (
	cadvisorError = gauge("container_scrape_error", "1 if there was an error while getting container metrics, 0 otherwise")
	machineCPUs   = gauge("machine_cpu_cores", "Number of logical CPU cores.")
	machineMemory = gauge("machine_memory_bytes", "Amount of memory installed on the machine.")
	machineSwap   = gauge("machine_swap_bytes", "Amount of swap memory available on the machine.")

	cadvisorStart = gauge("container_start_time_seconds", "Start time of the container since unix epoch in seconds.", labelled()...)
	cadvisorSeen  = gauge("container_last_seen", "Last time a container was seen by the exporter", labelled()...)

	cpuTime          = counter("container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.", labelled("cpu")...)
	cpuUser          = counter("container_cpu_user_seconds_total", "Cumulative user cpu time consumed in seconds.", labelled()...)
	cpuSystem        = counter("container_cpu_system_seconds_total", "Cumulative system cpu time consumed in seconds.", labelled()...)
	cpuPeriods       = counter("container_cpu_cfs_periods_total", "Number of elapsed enforcement period intervals.", labelled()...)
	cpuThrottled     = counter("container_cpu_cfs_throttled_periods_total", "Number of throttled period intervals.", labelled()...)
	cpuThrottledTime = counter("container_cpu_cfs_throttled_seconds_total", "Total time duration the container has been throttled.", labelled()...)

	cpuWaiting    = counter("container_pressure_cpu_waiting_seconds_total", "Total time duration tasks in the container have waited due to CPU congestion.", labelled()...)
	cpuStalled    = counter("container_pressure_cpu_stalled_seconds_total", "Total time duration no tasks in the container could make progress due to CPU congestion.", labelled()...)
	memoryWaiting = counter("container_pressure_memory_waiting_seconds_total", "Total time duration tasks in the container have waited due to memory congestion.", labelled()...)
	memoryStalled = counter("container_pressure_memory_stalled_seconds_total", "Total time duration no tasks in the container could make progress due to memory congestion.", labelled()...)
	ioWaiting     = counter("container_pressure_io_waiting_seconds_total", "Total time duration tasks in the container have waited due to IO congestion.", labelled()...)
	ioStalled     = counter("container_pressure_io_stalled_seconds_total", "Total time duration no tasks in the container could make progress due to IO congestion.", labelled()...)

	memoryWorking  = gauge("container_memory_working_set_bytes", "Current working set in bytes.", labelled()...)
	memoryUsage    = gauge("container_memory_usage_bytes", "Current memory usage in bytes, including all memory regardless of when it was accessed", labelled()...)
	memoryRSS      = gauge("container_memory_rss", "Size of RSS in bytes.", labelled()...)
	memoryCache    = gauge("container_memory_cache", "Number of bytes of page cache memory.", labelled()...)
	memoryMapped   = gauge("container_memory_mapped_file", "Size of memory mapped files in bytes.", labelled()...)
	memorySwap     = gauge("container_memory_swap", "Container swap usage in bytes.", labelled()...)
	memoryPeak     = gauge("container_memory_max_usage_bytes", "Maximum memory usage recorded in bytes", labelled()...)
	memoryFailcnt  = counter("container_memory_failcnt", "Number of memory usage hits limits", labelled()...)
	memoryFailures = counter("container_memory_failures_total", "Cumulative count of memory allocation failures.", labelled("failure_type", "scope")...)
	oomEvents      = counter("container_oom_events_total", "Count of out of memory events observed for the container", labelled()...)

	processes  = gauge("container_processes", "Number of processes running inside the container.", labelled()...)
	threads    = gauge("container_threads", "Number of threads running inside the container", labelled()...)
	threadsMax = gauge("container_threads_max", "Maximum number of threads allowed inside the container, infinity if value is zero", labelled()...)

	specShares = gauge("container_spec_cpu_shares", "CPU share of the container.", labelled()...)
	specPeriod = gauge("container_spec_cpu_period", "CPU period of the container.", labelled()...)
	specQuota  = gauge("container_spec_cpu_quota", "CPU quota of the container.", labelled()...)
	specMemory = gauge("container_spec_memory_limit_bytes", "Memory limit for the container.", labelled()...)
	specSwap   = gauge("container_spec_memory_swap_limit_bytes", "Memory swap limit for the container.", labelled()...)

	fsUsage      = gauge("container_fs_usage_bytes", "Number of bytes that are consumed by the container on this filesystem.", labelled("device")...)
	fsLimit      = gauge("container_fs_limit_bytes", "Number of bytes that can be consumed by the container on this filesystem.", labelled("device")...)
	fsInodes     = gauge("container_fs_inodes_total", "Number of Inodes", labelled("device")...)
	fsInodesFree = gauge("container_fs_inodes_free", "Number of available Inodes", labelled("device")...)
	fsReadBytes  = counter("container_fs_reads_bytes_total", "Cumulative count of bytes read", labelled("device")...)
	fsWriteBytes = counter("container_fs_writes_bytes_total", "Cumulative count of bytes written", labelled("device")...)
	fsReads      = counter("container_fs_reads_total", "Cumulative count of reads completed", labelled("device")...)
	fsWrites     = counter("container_fs_writes_total", "Cumulative count of writes completed", labelled("device")...)

	received = traffic("receive", "received", "receiving")
	sent     = traffic("transmit", "transmitted", "transmitting")
)

// trafficFamilies are the families of one direction.
type trafficFamilies struct{ bytes, packets, errors, dropped family }

func traffic(direction, done, doing string) trafficFamilies {
	of := func(what, help string) family {
		return counter("container_network_"+direction+"_"+what+"_total", help, labelled("interface")...)
	}
	return trafficFamilies{
		bytes: of("bytes", "Cumulative count of bytes "+done), packets: of("packets", "Cumulative count of packets "+done),
		errors: of("errors", "Cumulative count of errors encountered while "+doing), dropped: of("packets_dropped", "Cumulative count of packets dropped while "+doing),
	}
}
