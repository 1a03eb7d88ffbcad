package oom

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kill is a process that the kernel killed because memory has run out.
type Kill struct {
	PID int
	// Process is the name of the process, with escapes such as \x0a as in the kernel's log.
	Process string
	// Cgroup is the cgroup of the process, a path from the root of the hierarchy; empty if the kernel
	// does not say it.
	Cgroup string
	// Limit is the cgroup whose limit was reached. It is empty or "/" if the memory of the machine has
	// run out.
	Limit string
	// inCgroup is true if a limit was reached and the kernel does not say of which cgroup.
	inCgroup bool
}

// OfNode reports whether the memory of the machine has run out, or the memory of a part of it for
// which there is no cgroup.
func (k *Kill) OfNode() bool { return (k.Limit == "" || k.Limit == "/") && !k.inCgroup }

// parser finds kills in the messages of the kernel. Kernels from 5.0 on write one line that begins
// with "oom-kill:" for each decision, unless they decide very often, and then "Killed process" for
// each process. Older ones write "Task in CGROUP killed as a result of limit of CGROUP" and "Killed
// process". The zero value is ready for use.
type parser struct {
	// partial is the beginning of a line that the kernel wrote in several records.
	partial string
	// reported is the PID of the last kill, because further lines repeat it.
	reported int
	// group is when the kernel began to kill the other processes of a cgroup, whose kill is reported.
	group time.Duration
	// cgroup, limit and inCgroup are what older kernels write before they kill.
	cgroup, limit string
	inCgroup      bool
}

// groupTime is the time within which the kernel kills all processes of a cgroup.
const groupTime = time.Second

var (
	taskLine   = regexp.MustCompile(`^Task in (\S+) killed as a result of limit of (\S+)$`)
	groupLine  = regexp.MustCompile(`^Tasks in \S+ are going to be killed due to memory\.oom\.group set$`)
	killedLine = regexp.MustCompile(`^(?:(.*): )?Killed process ([0-9]+) \((.*?)\)(?:,? |$)`)
	chooseLine = regexp.MustCompile(`^(Out of memory|Memory cgroup out of memory)[^:]*: Kill process [0-9]+ `)
)

const (
	beginLine  = " invoked oom-killer: "
	decideLine = "oom-kill:constraint="
	ofCgroup   = "Memory cgroup out of memory"
)

// add returns the kills that a record reports.
func (p *parser) add(r *record) []Kill {
	message := r.message
	if r.continues && p.partial != "" {
		message = p.partial + message
	}
	p.partial = ""
	switch {
	case strings.Contains(message, beginLine):
		*p = parser{}
	case strings.HasPrefix(message, decideLine):
		k, ok := parseDecision(message)
		if !ok {
			if len(message) < maxLine {
				p.partial = message
			}
			return nil
		}
		*p = parser{reported: k.PID}
		return []Kill{k}
	case groupLine.MatchString(message):
		p.group = r.at + 1 // never 0
	case chooseLine.MatchString(message):
		p.inCgroup = strings.HasPrefix(message, ofCgroup)
	default:
		if m := taskLine.FindStringSubmatch(message); m != nil {
			p.cgroup, p.limit, p.inCgroup = m[1], m[2], true
			return nil
		}
		return p.killed(r, message)
	}
	return nil
}

// killed returns the kill of a line "Killed process", if no line before has reported it.
func (p *parser) killed(r *record, message string) []Kill {
	m := killedLine.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	pid, err := strconv.Atoi(m[2])
	if err != nil || pid <= 0 {
		return nil
	}
	if pid == p.reported || p.group != 0 && r.at < p.group+groupTime {
		return nil
	}
	k := Kill{PID: pid, Process: m[3], Cgroup: p.cgroup, Limit: p.limit}
	k.inCgroup = k.Limit == "" && (p.inCgroup || strings.HasPrefix(m[1], ofCgroup))
	*p = parser{reported: pid}
	return []Kill{k}
}

// parseDecision parses a line "oom-kill:constraint=...,nodemask=...,cpuset=...,mems_allowed=...,
// oom_memcg=...,task_memcg=...,task=...,pid=...,uid=...", with global_oom instead of oom_memcg=...
// if no limit was reached. Names of processes may contain commas, so their end is found from the
// end of the line.
func parseDecision(line string) (k Kill, ok bool) {
	rest, uid, found := cutLast(line, ",uid=")
	if !found || !isNumber(uid) {
		return Kill{}, false
	}
	rest, pid, found := cutLast(rest, ",pid=")
	if !found || !isNumber(pid) {
		return Kill{}, false
	}
	k.PID, _ = strconv.Atoi(pid)
	before, rest, found := strings.Cut(rest, ",task_memcg=")
	if !found {
		return Kill{}, false
	}
	k.Cgroup, k.Process, found = strings.Cut(rest, ",task=")
	if !found {
		return Kill{}, false
	}
	_, limit, limited := strings.Cut(before, ",oom_memcg=")
	if limited {
		k.Limit = limit
	}
	return k, k.PID > 0 && (limited || strings.HasSuffix(before, ",global_oom"))
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// isNumber reports whether text is a decimal number that fits into an int32.
func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 32)
	return err == nil
}
