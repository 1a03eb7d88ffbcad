package mutants

// seeds are the seeds that find each fault, by the check and the fault with its part. A
// seed that does not find it any more costs a search and nothing else.
var seeds = map[string]map[string]uint64{}
