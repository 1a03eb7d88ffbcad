package oom

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	container = "/wardlet/burstable/pod1b4e28ba-2fa1-11d2-883f-0016d3cca427/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	ofPod     = "/wardlet/burstable/pod1b4e28ba-2fa1-11d2-883f-0016d3cca427"
)

// logs are what kernels write when they kill, without the lists of pages and processes in between.
var logs = map[string]struct {
	lines []string
	want  []Kill
}{
	"Linux 6.8, the limit of a container, with memory.oom.group": {[]string{
		"4,1201,885063015,-;stress-ng-vm invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=1000",
		"4,1202,885063021,-;CPU: 1 PID: 4712 Comm: stress-ng-vm Not tainted 6.8.0-45-generic #45-Ubuntu",
		"6,1244,885063188,-;memory: usage 65536kB, limit 65536kB, failcnt 31",
		"6,1245,885063190,-;Memory cgroup stats for " + container + ":",
		"6,1246,885063195,-;Tasks state (memory values in pages):",
		"6,1247,885063196,-;[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
		"6,1250,885063204,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08,mems_allowed=0,oom_memcg=" + container + ",task_memcg=" + container + ",task=stress-ng-vm,pid=4712,uid=0",
		"3,1251,885063233,-;Memory cgroup out of memory: Killed process 4712 (stress-ng-vm) total-vm:97416kB, anon-rss:63852kB, file-rss:640kB, shmem-rss:32kB, UID:0 pgtables:188kB oom_score_adj:1000",
		"6,1252,885063301,-;Tasks in " + container + " are going to be killed due to memory.oom.group set",
		"3,1253,885063310,-;Memory cgroup out of memory: Killed process 4690 (stress-ng) total-vm:45996kB, anon-rss:256kB, file-rss:2816kB, shmem-rss:32kB, UID:0 pgtables:112kB oom_score_adj:1000",
		"3,1254,885063377,-;Memory cgroup out of memory: Killed process 4711 (stress-ng-vm) total-vm:45996kB, anon-rss:256kB, file-rss:128kB, shmem-rss:32kB, UID:0 pgtables:116kB oom_score_adj:1000",
	}, []Kill{{PID: 4712, Process: "stress-ng-vm", Cgroup: container, Limit: container}}},
	"Linux 6.18, the limit of a container, as it was recorded": {[]string{
		"4,44639,60032601999,-;python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
		"4,44645,60032602188,-; oom_kill_process.cold+0x8/0x8a",
		"6,44671,60032602440,-;Memory cgroup stats for /oomtry/podabc/c1:",
		"6,44715,60032602483,-;[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
		"6,44717,60032602487,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/oomtry/podabc/c1,task_memcg=/oomtry/podabc/c1,task=python3,pid=2223,uid=0",
		"3,44718,60032602500,-;Memory cgroup out of memory: Killed process 2223 (python3) total-vm:82104kB, anon-rss:7936kB, file-rss:6532kB, shmem-rss:0kB, UID:0 pgtables:80kB oom_score_adj:0",
	}, []Kill{{PID: 2223, Process: "python3", Cgroup: "/oomtry/podabc/c1", Limit: "/oomtry/podabc/c1"}}},
	"Linux 5.15, the limit of the pod": {[]string{
		"4,900,77000000,-,caller=T4321;java invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=984",
		"6,940,77000201,-,caller=T4321;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=9f86,mems_allowed=0-1,oom_memcg=" + ofPod + ",task_memcg=" + container + ",task=java,pid=4321,uid=1000",
		"3,941,77000233,-,caller=T4321;Memory cgroup out of memory: Killed process 4321 (java) total-vm:3052416kB, anon-rss:511200kB, file-rss:20kB, shmem-rss:0kB, UID:1000 pgtables:1500kB oom_score_adj:984",
	}, []Kill{{PID: 4321, Process: "java", Cgroup: container, Limit: ofPod}}},
	"Linux 5.4, the whole machine": {[]string{
		"4,500,5000000,-;kswapd0 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0",
		"6,540,5000100,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/db.service,task=postgres,pid=812,uid=999",
		"3,541,5000120,-;Out of memory: Killed process 812 (postgres) total-vm:817024kB, anon-rss:702000kB, file-rss:0kB, shmem-rss:4kB, UID:999 pgtables:1480kB oom_score_adj:0",
		"6,542,5003000,-;oom_reaper: reaped process 812 (postgres), now anon-rss:0kB, file-rss:0kB, shmem-rss:4kB",
	}, []Kill{{PID: 812, Process: "postgres", Cgroup: "/system.slice/db.service"}}},
	"Linux 5.4, the line in several records": {[]string{
		"6,540,5000100,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null)",
		"6,541,5000101,c;,cpuset=/,mems_allowed=0",
		"6,542,5000102,+;,global_oom,task_memcg=" + container + ",task=postgres,pid=812,uid=999",
		"3,543,5000120,-;Out of memory: Killed process 812 (postgres) total-vm:817024kB",
	}, []Kill{{PID: 812, Process: "postgres", Cgroup: container}}},
	"Linux 4.14, the limit of the pod": {[]string{
		"4,300,9000000,-;stress invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), nodemask=(null),  order=0, oom_score_adj=999",
		"6,330,9000100,-;Task in " + container + " killed as a result of limit of " + ofPod,
		"6,331,9000101,-;memory: usage 131072kB, limit 131072kB, failcnt 4455",
		"3,350,9000150,-;Memory cgroup out of memory: Kill process 28480 (stress) score 1986 or sacrifice child",
		"3,351,9000160,-;Killed process 28481 (stress) total-vm:138456kB, anon-rss:129352kB, file-rss:264kB, shmem-rss:0kB",
	}, []Kill{{PID: 28481, Process: "stress", Cgroup: container, Limit: ofPod}}},
	"Linux 4.14, the whole machine": {[]string{
		"4,300,9000000,-;java invoked oom-killer: gfp_mask=0x14280ca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO), nodemask=(null),  order=0, oom_score_adj=0",
		"3,350,9000150,-;Out of memory: Kill process 77 (java) score 912 or sacrifice child",
		"3,351,9000160,-;Killed process 77 (java) total-vm:8138456kB, anon-rss:7129352kB, file-rss:0kB, shmem-rss:0kB",
	}, []Kill{{PID: 77, Process: "java"}}},
	"RHEL 7": {[]string{
		"4,300,9000000,-;java invoked oom-killer: gfp_mask=0x201da, order=0, oom_score_adj=0",
		"3,350,9000150,-;Out of memory: Kill process 77 (java) score 912 or sacrifice child",
		"3,351,9000160,-;Killed process 77 (java), UID 0, total-vm:8138456kB, anon-rss:7129352kB, file-rss:0kB, shmem-rss:0kB",
	}, []Kill{{PID: 77, Process: "java"}}},
	"kills that follow each other closely have one line each": {[]string{
		"3,1,9000000,-;Memory cgroup out of memory: Killed process 11 (a) total-vm:1kB",
		"3,2,9000010,-;Out of memory (oom_kill_allocating_task): Killed process 12 (b) total-vm:1kB",
		"3,3,9000020,-;Memory cgroup out of memory: Killed process 13 (c) total-vm:1kB",
	}, []Kill{{PID: 11, Process: "a", inCgroup: true}, {PID: 12, Process: "b"}, {PID: 13, Process: "c", inCgroup: true}}},
	"a second after the processes of a cgroup others are killed": {[]string{
		"6,1,9000000,-;Tasks in /x are going to be killed due to memory.oom.group set",
		"3,2,9000010,-;Memory cgroup out of memory: Killed process 11 (a) total-vm:1kB",
		"3,3,10000020,-;Memory cgroup out of memory: Killed process 12 (b) total-vm:1kB",
	}, []Kill{{PID: 12, Process: "b", inCgroup: true}}},
	"a process chooses its name": {[]string{
		"6,1,9000000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=0,2,cpuset=c,mems_allowed=0,2,oom_memcg=/wardlet/pod1/c,task_memcg=/wardlet/pod1/c,task=x,task=y,pid=1,,pid=41,uid=0",
		"3,2,9000010,-;Memory cgroup out of memory: Killed process 41 (x,task=y,pid=1,) total-vm:1kB",
	}, []Kill{{PID: 41, Process: "x,task=y,pid=1,", Cgroup: "/wardlet/pod1/c", Limit: "/wardlet/pod1/c"}}},
	"programs write into the log, too": {[]string{
		"14,1,9000000,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=x,pid=1,uid=0",
		"11,2,9000000,-;Out of memory: Killed process 7 (x) total-vm:1kB",
	}, nil},
	"nothing of it": {[]string{
		"", ";", "6,1,2,-", "6,1,x,-;Out of memory: Killed process 7 (x) ", "a,1,2,-;Out of memory: Killed process 7 (x) ", " SUBSYSTEM=pci",
		"6,1,2,-;Killed process 0 (x) ", "6,1,2,-;Killed process 99999999999999999999 (x) ", "6,1,2,-;Killed process x (y) ",
		"6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG", "6,1,2,-;oom-kill:constraint=,oom_memcg=/a,task_memcg=/b,task=c,pid=-1,uid=0",
		"6,1,2,-;oom-kill:constraint=,task_memcg=/b,task=c,pid=1,uid=0", "6,1,2,-;oom-kill:constraint=,global_oom,task_memcg=/b,pid=1,uid=0",
		"6,1,99999999999999999999,-;Killed process 7 (x) ", "6,1,2,-;Killed process 7 (\x00) ",
	}, nil},
}

func parse(lines []string) (kills []Kill) {
	var p parser
	for _, line := range lines {
		if r, ok := parseRecord(line); ok {
			kills = append(kills, p.add(&r)...)
		}
	}
	return kills
}

func TestParser(t *testing.T) {
	t.Parallel()
	for name, test := range logs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parse(test.lines)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(Kill{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for i := range got {
				if want := strings.Contains(name, "whole machine") || strings.Contains(name, "RHEL") || got[i].PID == 12 && !got[i].inCgroup || strings.Contains(name, "several"); got[i].OfNode() != want {
					t.Errorf("%+v is of the node: %v", got[i], !want)
				}
			}
		})
	}
}

// FuzzParser checks that no log makes the parser fail or grow, that what it finds can be shown, and
// that a decision that is written by a kernel is found whatever the process is called.
func FuzzParser(f *testing.F) {
	for _, log := range logs {
		f.Add(strings.Join(log.lines, "\n"), "x,pid=1")
	}
	f.Fuzz(func(t *testing.T, text, process string) {
		var p parser
		for line := range strings.SplitSeq(text, "\n") {
			r, ok := parseRecord(line)
			if !ok {
				continue
			}
			if r.at < 0 {
				t.Fatalf("%q is %s before the boot", line, r.at)
			}
			for _, k := range p.add(&r) {
				if k.PID <= 0 {
					t.Errorf("%q: %+v", line, k)
				}
				for _, shown := range []string{k.Process, k.Cgroup, k.Limit} {
					if strings.ContainsFunc(shown, func(c rune) bool { return c < ' ' || c > '~' }) {
						t.Errorf("%q: %q", line, shown)
					}
				}
			}
			if len(p.partial) > 2*maxLine {
				t.Fatalf("%d bytes are kept", len(p.partial))
			}
		}
		if len(process) > 15 || strings.ContainsFunc(process, func(c rune) bool { return c < ' ' || c > '~' }) {
			return
		}
		line := fmt.Sprintf("6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=%s,task_memcg=%s,task=%s,pid=41,uid=0", ofPod, container, process)
		r, ok := parseRecord(line)
		if !ok || r.at != 2*time.Microsecond {
			t.Fatalf("record %+v, %v", r, ok)
		}
		kills := p.add(&r)
		if want := []Kill{{PID: 41, Process: process, Cgroup: container, Limit: ofPod}}; !cmp.Equal(want, kills, cmp.AllowUnexported(Kill{})) {
			t.Errorf("%+v, want %+v", kills, want)
		}
	})
}
