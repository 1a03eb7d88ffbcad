# Everything a person or CI does with this repository. `make help` lists it.
# What a target needs and does not find, tools/setup.sh installs or builds.

GO        ?= go
GOARCH    ?= $(shell $(GO) env GOARCH)
HOSTARCH  := $(shell $(GO) env GOHOSTARCH)
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BUILD     := build
TOOLS     := $(BUILD)/tools
# One binary per architecture; the host's own is build/wardlet.
WARDLET   := $(BUILD)/wardlet$(if $(filter-out $(HOSTARCH),$(GOARCH)),-linux-$(GOARCH))
FUZZTIME  ?= 20s
# Without its tracing pages gRPC links no templates, and the linker drops what is not called: 5 MB less (docs/rationale.md).
TAGS      := grpcnotrace
# All that runs without the race detector is compiled in one way: what one target has built, the others find in Go's cache.
# make lint runs all of vet; go test would run a part of it, over all that is imported too.
export GOFLAGS     ?= -trimpath -tags=$(TAGS) -vet=off
export CGO_ENABLED ?= 0
RACE      := CGO_ENABLED=1 $(GO) test -race

.DEFAULT_GOAL := help
.PHONY: help build plugins demo demo-controlplane run test test-unit test-race test-e2e test-parity test-cluster test-vm test-vm-short test-conformance conformance conformance-standalone conformance-node conformance-migration conformance-vm net soak soak-unit soak-sizes soak-fuzz soak-parity soak-e2e soak-cluster bench bench-cluster bench-attack bench-isolation chaos lint fuzz size runtime-up runtime-down clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build/wardlet, without cgo, stripped (GOARCH=arm64, arm, riscv64 work too)
	GOOS=linux GOARCH=$(GOARCH) $(GO) build -ldflags='-s -w -X main.version=$(VERSION)' \
		-o $(WARDLET) ./cmd/agent

plugins: ## the example plugins and their policy documents, in build/policies
	@tools/setup.sh guests
	@GOOS= GOARCH= $(GO) run ./tools/plugins -out $(BUILD)/policies

demo: ## shows in seven steps what Wardlet does, on a real containerd (as root)
	@[ "$$(id -u)" -eq 0 ] || { echo "make demo starts real containers: run it as root, or with sudo -E" >&2; exit 1; }
	@tools/setup.sh runtime
	@[ -d $(BUILD)/policies ] || echo "building wardlet and its example plugins; the first time that takes a minute or two"
	@{ $(MAKE) -s --no-print-directory build plugins && $(GO) build -o $(TOOLS)/demo ./test/demo; } \
		>$(BUILD)/demo.log 2>&1 || { cat $(BUILD)/demo.log >&2; exit 1; }
	@$(TOOLS)/demo -wardlet $(WARDLET) -policies $(BUILD)/policies

demo-controlplane: build ## runs the static pods that kubeadm writes for a control plane, in about a minute (as root)
	@[ "$$(id -u)" -eq 0 ] || { echo "make demo-controlplane starts real containers: run it as root, or with sudo -E" >&2; exit 1; }
	@tools/setup.sh conformance
	@$(GO) build -o $(TOOLS)/demo-controlplane ./test/demo/controlplane
	@$(TOOLS)/demo-controlplane -wardlet $(WARDLET) -tools $(TOOLS)

run: build ## the agent in the foreground on agent.toml, with a private runtime (as root)
	@tools/setup.sh runtime
	@tools/run.sh $(WARDLET)

test: ## all tests, in order, and how long each part took (as root)
	@tools/timed.sh test-unit test-race test-e2e test-parity test-cluster test-vm-short

# The packages where goroutines meet: their tests run once, with the race detector. make soak runs all tests with it.
RACED := ./core/agent ./core/admission/... ./core/checkpoint ./core/config/reload ./core/eviction ./core/gc ./core/image/unused ./core/internal/... ./core/mux \
	./core/object ./core/oom ./core/pleg ./core/policy ./core/policy/decisionlog ./core/policy/eval ./core/policy/rollout ./core/policy/sched ./core/server/... ./core/shutdown \
	./core/source/... ./core/stats ./core/status ./core/syncloop ./core/systemd ./core/worker

# The packages with tests that need root or a disk of their own, whose names end in ForReal.
KERNEL := ./core/internal/rmtree ./core/logs/rotate ./core/node ./core/policy/wasm/compile ./core/source/file ./core/state ./core/volume

test-unit: ## the unit tests of every module but what test-race runs; a test that takes longer than a minute fails
	@tools/setup.sh guests
	raced=$$($(GO) list $(RACED)) && \
		$(GO) test -json -timeout 15m $$($(GO) list ./... | grep -vxF "$$raced") | $(GO) run ./tools/slowtests -limit 60s
	for module in tools/images plugins/sdk plugins/examples test/bench/policies; do (cd $$module && $(GO) test ./...) || exit; done
	plugins/sdk/c/test.sh plugins/sdk/c/test plugins/examples/allowed-images-c

test-race: ## the tests of the packages where goroutines meet, and simulated nodes, with the race detector
	@tools/setup.sh race guests
	$(RACE) -json -timeout 15m $(RACED) | $(GO) run ./tools/slowtests -limit 60s
	$(RACE) -timeout 15m -run TestNothingEverGoesWrong ./test/simulation -steps 20000

test-e2e: build plugins ## the tests on a real containerd, with the agent as it ships (as root)
	@tools/setup.sh runtime cluster
	$(GO) test -tags $(TAGS),e2e -count=1 -timeout 10m -run ForReal $(KERNEL)
	$(GO) test -tags $(TAGS),e2e -count=1 -timeout 10m ./test/demo
	$(GO) test -tags $(TAGS),e2e -count=1 -parallel 3 -timeout 30m ./test/e2e # a third one beside two that mostly wait
	$(GO) test -tags $(TAGS),e2e -count=1 -timeout 10m ./test/chaos

test-parity: ## what a kubelet's own packages make of the same input, and whether that finds faults
	cd test/parity && $(GO) test -timeout 20m ./...
	overlay=$$($(GO) run ./test/mutants/overlay -out $(BUILD)/mutants) && \
		$(GO) test -tags $(TAGS),mutants -overlay $$overlay -timeout 20m -run TestEveryFaultIsFound ./test/simulation && \
		cd test/parity && $(GO) test -tags $(TAGS),mutants -overlay $$overlay -timeout 20m -run TestEveryFaultIsFound ./history ./pleg ./workers

test-cluster: ## the API server source on a real kube-apiserver with etcd
	@tools/setup.sh cluster
	$(GO) test -tags $(TAGS),e2e -count=1 -parallel 6 -timeout 20m ./test/cluster ./test/cluster/controlplane

test-vm-short: build # what of test-vm takes a minute or two
	@tools/setup.sh vm
	$(GO) test -tags $(TAGS),vm -count=1 -timeout 15m -run TestPods_inSlicesOfSystemd ./test/vm

test-vm: build ## the agent as a service on a machine with systemd, cgroup v2 and AppArmor: limits, reboots, power cuts, clock steps, a full disk (as root); VM_KERNEL=cloud for Debian's kernel for clouds in QEMU, RUN for some tests
	@tools/setup.sh $(if $(filter cloud,$(VM_KERNEL)),qemu,vm)
	@tools/setup.sh conformance
	$(GO) test -tags $(TAGS),vm -count=1 -v -timeout 120m -run '$(RUN)' -skip '^TestConformance$$' ./test/vm -kernel $(or $(VM_KERNEL),uml) -cuts 10

test-conformance: demo-controlplane ## what passed before of Kubernetes' own end-to-end tests, and what people do with kubectl (as root)
	@tools/setup.sh conformance
	PROCS=12 ONLY=passing test/conformance/conformance.sh
	$(GO) test -tags $(TAGS),e2e -count=1 -timeout 20m ./test/cluster/kubectl

conformance: build ## Kubernetes' own end-to-end tests against wardlet, on a control plane of their own (as root); FOCUS='Pods should' for some of them, ONLY=passing, ONLY=slow or ONLY=further for those that passed before
	@tools/setup.sh conformance
	@test/conformance/conformance.sh $(if $(FOCUS),'$(FOCUS)')

conformance-standalone: build ## Kubernetes' own tests of a node without an API server against wardlet (as root)
	@tools/setup.sh conformance
	@test/conformance/nodesuite.sh standalone

conformance-node: build ## Kubernetes' own tests of a node in a cluster against wardlet: eviction, garbage, logs, statistics, shutdown (as root), in two to three hours; those that passed before, or FOCUS='Summary API' for others
	@tools/setup.sh conformance
	@test/conformance/nodesuite.sh registered $(if $(FOCUS),'$(FOCUS)')

conformance-migration: build ## a kubelet is replaced by wardlet on a node with 20 pods, and wardlet by the kubelet: every container runs on (as root)
	@tools/setup.sh kubelet
	@tools/setup.sh conformance
	test/conformance/migration.sh

conformance-vm: build ## Kubernetes' own end-to-end tests against wardlet on a machine with systemd and cgroup v2 (as root), those of test/conformance/vm.txt in hours; FOCUS for others, LIMIT for how long
	@tools/setup.sh conformance vm
	$(GO) test -tags $(TAGS),vm -count=1 -v -timeout 13h -run '^TestConformance$$' ./test/vm $(if $(FOCUS),-focus '$(FOCUS)') $(if $(LIMIT),-limit $(LIMIT))

net: ## what must stay the same while code moves: decisions on record, traces of the simulation, fields, log lines
	$(GO) test -count=1 -run 'TestReplay_decisionsOfAnEarlierBinary|TestTraces_|TestLog_|TestGet_hasTheSame|TestTheDocumentListsEveryMetric|TestAnAgentHasTheMetricsOfTheDocument' \
		./test/replay ./test/simulation ./test/surface ./cmd/agent ./core/metrics ./core/agent

soak: ## every proof at its full size, most with the race detector, for hours; how long each part took (as root); SOAK='fuzz e2e' for some parts
	@tools/timed.sh $(addprefix soak-,$(or $(SOAK),unit sizes fuzz parity e2e cluster))

# The packages whose tests soak runs without the race detector, as test-unit does: they compile many modules, for minutes,
# and no goroutines of ours meet in them.
UNRACED := /(cmd/agent|test/abi|test/attack|test/replay|test/spectest|tools/plugins)$$

soak-unit: # the race detector over nearly all unit tests
	@tools/setup.sh race guests
	$(RACE) -timeout 30m $$($(GO) list ./... | grep -vE '$(UNRACED)')
	for module in tools/images plugins/sdk plugins/examples test/bench/policies; do (cd $$module && $(RACE) -timeout 30m ./...) || exit; done
	GOARCH=arm $(GO) build -o /dev/null ./cmd/agent # 32 bits, where an int may not hold what it should

soak-sizes: # a million steps of simulated nodes, the whole storm of policies, ten thousand decisions
	@tools/setup.sh guests
	$(GO) test -count=1 -timeout 30m -run TestNothingEverGoesWrong ./test/simulation -steps 1000000 -from 100000
	$(GO) test -count=1 -timeout 15m ./core/mux -seeds 3000
	$(GO) test -count=1 -timeout 15m ./test/plane -rewrites 1000 -attack 25s
	$(GO) test -count=1 -timeout 15m ./test/replay -decisions 10000
	$(GO) test -count=1 -timeout 15m ./tools/plugins -caches
	$(GO) test -count=1 -timeout 15m ./test/attack -rounds 3 -whole
	$(GO) test -count=1 -timeout 15m ./core/policy/wasm/memory -steps 30000
	$(GO) test -count=1 -timeout 15m -run TestRotator_aHundredLogs ./core/logs/rotate -writing 30s -rate 1000000

soak-fuzz: # 2000 inputs for each fuzz target beyond its seeds, or what it does in 20 s
	@tools/setup.sh race guests
	@# A hostile workload takes its time, whatever else the machine does.
	CGO_ENABLED=1 tools/fuzz.sh 2000x 20s & fuzz=$$!; \
		$(GO) test -count=1 -timeout 30m -run hostileWorkload ./core/volume -hostile 20m; hostile=$$?; \
		wait $$fuzz && exit $$hostile

soak-parity: # parity, and whether all finds faults, with the race detector
	@tools/setup.sh race
	cd test/parity && $(RACE) -timeout 30m $$($(GO) list ./... | grep -v /workers$$)
	cd test/parity && $(RACE) -timeout 30m ./workers -seeds 300 # a kubelet's workers are slow with it
	overlay=$$($(GO) run ./test/mutants/overlay -out $(BUILD)/mutants) && \
		$(RACE) -tags $(TAGS),mutants -overlay $$overlay -timeout 20m -run TestEveryFaultIsFound ./test/simulation && \
		cd test/parity && $(RACE) -tags $(TAGS),mutants -overlay $$overlay -timeout 20m -run TestEveryFaultIsFound ./history ./pleg ./workers

# Tests of how fast an agent is, one at a time: with the race detector it is some ten times as slow.
PACED := TestLogRotation_ofAChattyContainer|TestObjects_aChangeIsSeenWhole|TestPull_besideARegistryThatHangs

soak-e2e: build plugins # tests and agents with the race detector, on a real containerd
	@tools/setup.sh race runtime cluster
	$(RACE) -tags $(TAGS),e2e -count=1 -timeout 45m -run ForReal $(KERNEL)
	$(RACE) -tags $(TAGS),e2e -count=1 -timeout 45m ./test/demo
	$(RACE) -tags $(TAGS),e2e -count=1 -parallel 3 -timeout 45m -skip '$(PACED)' ./test/e2e -raced -races 100 -many 60 -loops 3 -pressed 10m
	$(GO) test -tags $(TAGS),e2e -count=1 -parallel 1 -timeout 45m -run '$(PACED)' ./test/e2e -readers 100 -changing 10m
	$(RACE) -tags $(TAGS),e2e -count=1 -timeout 20m ./test/chaos -raced -for 1m -part 1 -cuts 10
	$(RACE) -tags $(TAGS),e2e -count=1 -parallel 6 -timeout 20m ./test/cluster ./test/cluster/controlplane

soak-cluster: build # what the API server hears of 100 pods from Wardlet, beside what it hears from a kubelet; a network that is away for minutes; Kubernetes' slow tests
	@tools/setup.sh conformance kubelet
	PROCS=16 ONLY=slow test/conformance/conformance.sh
	PROCS=6 ONLY=further test/conformance/conformance.sh
	$(GO) test -tags $(TAGS),e2e -count=1 -v -timeout 60m ./test/cluster/statusparity -lives 100
	$(GO) test -tags $(TAGS),e2e -count=1 -v -timeout 60m ./test/cluster/alone

bench: ## figures beside a kubelet's and other policy engines', as a table and in build/bench.json (as root); fails where a limit is missed; ROUNDS=10 for more than the default's 25 minutes
	@tools/setup.sh guests
	@$(GO) build -o $(TOOLS)/bench ./test/bench
	@$(TOOLS)/bench $(if $(ROUNDS),-rounds $(ROUNDS))

bench-cluster: ## what the node agent of a cluster costs beside a kubelet, in 40 minutes (as root): requests and bytes, starts of pods, idle time and memory
	@$(GO) build -o $(TOOLS)/bench ./test/bench
	@$(TOOLS)/bench -only cluster -out $(BUILD)/bench-cluster.json $(if $(ROUNDS),-rounds $(ROUNDS))

bench-attack: plugins ## what expensive modules cost to read, and the attacks of two tenants a third and the process, in 15 minutes; fails where a limit is missed
	@failed=0; for bench in passes hostcalls interference; do $(GO) run ./test/attack/$$bench || failed=1; done; exit $$failed

bench-isolation: build ## how long a tenant waits for verdicts while another does its worst, and for images while another's registry hangs (as root), in 5 minutes; fails where a limit is missed
	@tools/setup.sh runtime
	@$(GO) test -count=1 -v -timeout 15m -run InTime ./test/plane -timed
	@$(GO) test -tags $(TAGS),e2e -count=1 -v -timeout 15m -run TestPull_besideARegistryThatHangs ./test/e2e -timed

chaos: build plugins ## ten minutes of kills, freezes and edits on a real containerd (as root); CHAOS='-seed 7 -for 1m' for another run
	@tools/setup.sh runtime
	@$(GO) build -o $(TOOLS)/chaos ./test/chaos
	@$(TOOLS)/chaos -wardlet $(WARDLET) -policies $(BUILD)/policies -logs $(BUILD)/chaos $(CHAOS)

lint: ## formatting, words and links, and golangci-lint, for every module
	@tools/setup.sh lint
	$(GO) run ./tools/vocabulary
	$(TOOLS)/golangci-lint fmt --diff
	$(TOOLS)/golangci-lint run ./...
	cd tools/images && ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml ./...
	cd plugins/sdk && ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml ./...
	cd plugins/sdk && GOOS=wasip1 GOARCH=wasm ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml --tests=false ./...
	cd plugins/examples && ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml ./...
	cd test/bench/policies && ../../../$(TOOLS)/golangci-lint run --config ../../../.golangci.yml ./...
	cd test/parity && ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml ./...

fuzz: ## every fuzz target for FUZZTIME (default 20s each)
	@tools/fuzz.sh $(FUZZTIME)

runtime-up: ## a private containerd with local images; says how to use it (as root)
	@tools/setup.sh runtime
	@$(TOOLS)/privateruntime up

runtime-down: ## take the private containerd away with all it made
	@tools/setup.sh runtime
	@$(TOOLS)/privateruntime down

size: ## binary, dependencies and idle memory against the limits in tools/size (as root)
	@[ "$$(id -u)" -eq 0 ] || { echo "make size measures an agent on a real containerd: run it as root, or with sudo -E" >&2; exit 1; }
	@tools/setup.sh runtime
	@$(MAKE) -s --no-print-directory build plugins >/dev/null
	@$(GO) build -o $(TOOLS)/size ./tools/size
	@$(TOOLS)/size -wardlet $(WARDLET) -policies $(BUILD)/policies

clean: ## remove build/
	rm -rf $(BUILD)
