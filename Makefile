# Everything this project does, by one command each. A target makes what it needs and repeats nothing that has not changed.
# Needs on the machine: JDK 17 or newer, Python 3.11, git, make and the package registries (or mirrors, see CONTRIBUTING).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Targets share what sbt and pip write. `make test` runs those at the same time that do not.
ifndef AT_ONCE
.NOTPARALLEL:
endif

PYTHON ?= python3.11
MAIN_LINE := 4.3
OTHER_LINES := 4.0 4.1 4.2
OTHER_PYTHONS := 3.10 3.12 3.13
SERVERS := 3.0.16 4.0.8 4.2.4

VENV := .venv
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' python/pulsar_spark/_version.py)
JAR_NAME := pulsar-spark-connector_2.13-$(VERSION).jar
JAR := dist/$(JAR_NAME)
PACKAGED_JAR := python/pulsar_spark/jars/$(JAR_NAME)
WHEEL := dist/pulsar_spark-$(VERSION)-py3-none-any.whl

# Folders are listed too, so that a removed file counts as a change.
JAR_INPUTS := $(shell find connector/src/main connector/src/realtime/java) build.sbt project/build.properties \
  $(wildcard project/*.scala project/*.sbt project/licences/*) python/pulsar_spark/_version.py LICENSE NOTICE
WHEEL_INPUTS := $(shell find python/pulsar_spark -not -path '*/__pycache__*' -not -path '*/jars*') $(addprefix python/,pytest_pulsar_spark.py pyproject.toml README.md LICENSE NOTICE)
# The file of a test, by its name.
CLASS_DATA := $(VENV)/spark-classes.jsa
path-of = $(wildcard integration/*/$(1).py integration/support/tests/$(1).py)
PYTHON_SOURCES := python $(wildcard integration benchmarks examples tools docs/*.py)

# How many processes run integration tests at the same time, each with a Spark of 1 GB, and which tests: all but the
# exhaustive ones, unless the target is test-all.
WORKERS ?= 3
TIER ?= not exhaustive

# How long `make soak` sends messages, and how many a second.
SOAK_MINUTES ?= 30
SOAK_RATE ?= 200

# How long `make nemesis` has faults, and what else it is told, as `--seed 7`.
NEMESIS_MINUTES ?= 10
NEMESIS_OPTIONS ?=

# How long `make fuzz` runs each target, and which, as `--only Entry`.
FUZZ_SECONDS ?= 60
FUZZ_OPTIONS ?=

# How wide a stream `make bench-width` measures.
TOPICS ?= 3000
WIDTH_OPTIONS ?=

# How long a backlog `make bench-backlog` measures, and in which micro-batches, as `--count 4000000 --limit 500000`.
BACKLOG_OPTIONS ?=
BEFORE_OPTIONS ?=

# What `make bench-load` sends, as `--rates 70000,140000 --minutes 5,2`.
LOAD_OPTIONS ?=

# Which part `make bench-realtime` measures, as `--only idle,backlog`.
REALTIME_OPTIONS ?=

# Which part `make bench-checkpoints` measures, as `--only restart,wide`.
CHECKPOINTS_OPTIONS ?=

PYTEST := -m pytest -c python/pyproject.toml --rootdir=. -m "$(TIER)"
RUFF := $(VENV)/bin/ruff
SBT := tools/sbt
LINT_SCALA := scalafmtCheckAll scalafmtSbtCheck

# A part of a target as a make of its own, and how long it took. A third argument is what runs that make.
define phase
@+echo "== $(1)"; began=$$SECONDS; $(3) $(MAKE) --no-print-directory --output-sync=target $(2); echo "== $(1): $$((SECONDS - began)) s"
endef

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: demo
demo: $(VENV)/.ready $(PACKAGED_JAR) ## Start a real Pulsar, fill it, then read, stream and write it with PySpark
	$(VENV)/bin/python -m pulsar_spark.demo

.PHONY: build
build: jar wheel ## Make the jar, published to a Maven repository in target/repo, and the wheel

.PHONY: venv
venv: $(VENV)/.ready ## Make the Python environment with the main Spark line

.PHONY: jar
jar: $(PACKAGED_JAR) ## Make the one jar, in dist/ and inside the Python package

.PHONY: wheel
wheel: $(WHEEL) ## Make the Python wheel with the jar in it, in dist/

.PHONY: fmt
fmt: $(VENV)/.ready ## Format the Scala and Python sources
	$(SBT) -warn scalafmtAll scalafmtSbt
	$(RUFF) format --config python/pyproject.toml $(PYTHON_SOURCES)
	$(RUFF) check --config python/pyproject.toml --fix $(PYTHON_SOURCES)

.PHONY: lint
lint: lint-python ## Check formatting, style, types and that no ignored file is committed; change nothing
	$(SBT) -warn $(LINT_SCALA)

.PHONY: lint-python
lint-python: $(VENV)/.ready
	@committed=$$(git ls-files --cached --ignored --exclude-standard); test -z "$$committed" || { echo "ignored files are committed: $$committed" >&2; exit 1; }
	$(VENV)/bin/python tools/generate.py --check
	$(RUFF) format --config python/pyproject.toml --check $(PYTHON_SOURCES)
	$(RUFF) check --config python/pyproject.toml $(PYTHON_SOURCES)
	$(VENV)/bin/mypy --config-file python/pyproject.toml $(PYTHON_SOURCES)

.PHONY: test-unit
test-unit: test-python ## Run the tests that need no server
	$(SBT) connector/test

.PHONY: test-python
test-python: $(VENV)/.ready
	$(VENV)/bin/python $(PYTEST) python/tests

.PHONY: test-integration
test-integration: $(VENV)/.ready $(CLASS_DATA) $(PACKAGED_JAR) $(WHEEL) ## Run the tests against a real Pulsar, with the packaged jar
	$(VENV)/bin/python $(PYTEST) -n $(WORKERS) --dist loadfile --durations=15 $(foreach test,$(BESIDE),--ignore=$(call path-of,$(test))) integration

# First what tests need, and what needs no server; then all that needs both. No processor waits for the longest part.
.PHONY: test
test: ## The gate, in 20 to 25 minutes: all tests but exhaustive ones on one Spark line, smoke tests on the others
	$(call phase,environments and checks,--jobs=3 AT_ONCE=yes scala lint-python test-python downloads $(CLASS_DATA) $(OTHER_ENVIRONMENTS) $(VENV)/connect/.ready)
	$(call phase,tests,--jobs=2 --output-sync=none AT_ONCE=yes BESIDE="$(PROGRAMS)" test-integration test-beside,$(BESIDE_SERVER))

# Tests of programs, of all Spark lines and of executors share a server; alone each has its own.
BESIDE_SERVER := PYTHONPATH=integration $(VENV)/bin/python integration/support/runs/beside_server.py target/server env -u PYTHONPATH

# What runs beside the integration tests, one after the other.
.PHONY: test-beside
test-beside: $(PACKAGED_JAR) $(WHEEL)
	$(call phase,executors,AT_ONCE= test-executors)
	$(call phase,other Spark lines,AT_ONCE= test-other-lines)
	$(call phase,programs,AT_ONCE= test-programs)

.PHONY: test-all
test-all: ## Every test there is: the gate with the exhaustive tests, more of them on the other Spark lines, other servers, soak
	SPARK_SUBMIT_OPTS= PULSAR_SPARK_TEST_CANCEL_SECONDS=120 PULSAR_SPARK_TEST_COPY_SECONDS=60 PULSAR_SPARK_TEST_SAMPLES=20 $(MAKE) test TIER= SMOKE="$(SMOKE) $(MORE_ON_OTHER_LINES)"
	$(call phase,next client,compile-next)
	$(call phase,Spark Connect,$(OTHER_LINES:%=connect-%))
	$(call phase,table formats,test-lakes)
	$(call phase,stateful processors,test-processors)
	$(call phase,other servers,test-servers)
	$(call phase,missing rules,test-controls)
	$(call phase,site,site-looks)
	$(call phase,soak,soak)

.PHONY: compile-next
compile-next: $(VENV)/.ready ## Compile the sources against the client of the next major version of Pulsar
	$(SBT) -warn next/compile

# All that sbt has to do, in one go: another start of it takes 20 seconds of a processor, and its compiler is cold again.
# `all` checks the form of sources and makes the jar while tests wait for deadlines.
.PHONY: scala
scala: $(VENV)/.ready
	$(SBT) "all connector/publish $(LINT_SCALA) connector/test micro/compile connector/mimaReportBinaryIssues apiProbe/apiCheck"

.PHONY: downloads
downloads: $(VENV)/.ready
	PYTHONPATH=integration $(VENV)/bin/python integration/support/runs/downloads.py

# It only saves time.
$(CLASS_DATA): integration/support/runs/spark_jvm.py $(VENV)/.ready
	$(VENV)/bin/python $<

.PHONY: test-other-lines
test-other-lines: $(OTHER_LINES:%=smoke-%) connect-$(MAIN_LINE)

.PHONY: test-matrix
test-matrix: test-other-lines smoke-$(MAIN_LINE) ## Read, stream and write on every Spark line, and by Spark Connect

.PHONY: test-executors
test-executors: $(VENV)/.ready $(CLASS_DATA) $(PACKAGED_JAR) ## Run reads and writes in executors of their own, which are killed and frozen
	$(VENV)/bin/python $(PYTEST) --durations=5 $(EXECUTOR_TESTS)

# Tests without a Spark session of their own: those of programs, and those that only compute. They need no worker.
PROGRAMS := test_class_path test_controls test_demo test_incumbent_readme test_local_command test_model \
  test_modes_of_lines test_nemesis_smoke test_packaged_jar test_recorded test_secrets test_tools test_vulnerabilities

.PHONY: test-programs
test-programs: $(VENV)/.ready $(CLASS_DATA) $(PACKAGED_JAR) $(WHEEL)
	$(VENV)/bin/python $(PYTEST) --durations=5 $(foreach test,$(PROGRAMS),$(call path-of,$(test)))

# The newest line of Spark for which both formats have a library.
.PHONY: test-lakes
test-lakes: .venv-4.1/.ready $(PACKAGED_JAR) ## Run the recipes for tables of Delta Lake and Iceberg
	.venv-4.1/bin/python $(PYTEST) integration/lakes

.PHONY: test-processors
test-processors: $(VENV)/connect/.ready $(PACKAGED_JAR) ## Run transformWithState, which needs pandas, with its state in a checkpoint store
	PYTHONPATH=$(abspath $(VENV)/connect) $(VENV)/bin/python $(PYTEST) integration/checkpoints/processors

.PHONY: test-controls
test-controls: $(VENV)/.ready ## Take out one rule of exactly-once writes after the other; a fault test must notice each
	$(VENV)/bin/python integration/exactlyonce/controls.py

.PHONY: test-servers
test-servers: $(SERVERS:%=server-%) ## Read, stream and write with every version of the Pulsar server

.PHONY: test-pythons
test-pythons: $(OTHER_PYTHONS:%=python-%) ## Run the Python package on Python 3.10, 3.12 and 3.13, which the machine has to have

.PHONY: bench
bench: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure against the Java client and Spark's Kafka source
	.venv-4.1/bin/python -m benchmarks.run

.PHONY: bench-offloaded
bench-offloaded: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure reads of offloaded ledgers against those of bookies
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.offloaded

.PHONY: bench-gaps
bench-gaps: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure reads of topics full of gaps against an earlier jar, BASELINE=path
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.earlier.gaps --baseline $(BASELINE)

.PHONY: bench-before
bench-before: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure the cases of bench against an earlier jar, BASELINE=path
	.venv-4.1/bin/python -m benchmarks.earlier.before --baseline $(BASELINE) $(BEFORE_OPTIONS)

.PHONY: bench-decoding
bench-decoding: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure decoding records against Spark's own functions
	.venv-4.1/bin/python -m benchmarks.decoding

.PHONY: bench-planning
bench-planning: $(VENV)/.ready $(PACKAGED_JAR) ## Measure how long it takes to plan reads of many partitions
	$(VENV)/bin/python -m benchmarks.driver.planning

.PHONY: bench-looking
bench-looking: $(VENV)/.ready $(PACKAGED_JAR) ## Measure lists, lag, peek and doctor in SQL, Python and a shell, beside Pulsar's own tools
	$(VENV)/bin/python -m benchmarks.driver.looking

.PHONY: soak
soak: $(VENV)/.ready $(PACKAGED_JAR) ## Run a stream for SOAK_MINUTES=30 minutes while everything around it changes
	PYTHONPATH=integration $(VENV)/bin/python -m benchmarks.soak --minutes $(SOAK_MINUTES) --rate $(SOAK_RATE)

.PHONY: nemesis
nemesis: $(VENV)/.ready $(PACKAGED_JAR) ## Have faults by chance for NEMESIS_MINUTES=10 around a writer, two streams and batch reads
	PYTHONPATH=integration:. $(VENV)/bin/python -m nemesis --minutes $(NEMESIS_MINUTES) $(NEMESIS_OPTIONS)

.PHONY: fuzz
fuzz: $(VENV)/.ready target/fuzz/atheris/.ready ## Run each fuzz target for FUZZ_SECONDS=60 seconds, in Jazzer or Atheris
	$(SBT) -warn fuzz/fuzzClassPath
	PYTHONPATH=tools $(VENV)/bin/python -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ_OPTIONS)

# Beside the environments, so that no test has it.
target/fuzz/atheris/.ready: python/requirements-fuzz.txt $(VENV)/.ready
	rm -rf $(@D)
	$(VENV)/bin/python $(PIP) install --no-compile --no-deps --target $(@D) -r $<
	touch $@

.PHONY: bench-width
bench-width: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure a stream over TOPICS=3000 topics, and against an earlier jar with BASELINE=path
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.width --topics $(TOPICS) $(if $(BASELINE),--baseline $(BASELINE)) $(WIDTH_OPTIONS)

.PHONY: bench-load
bench-load: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure how many messages a second a query copies from topic to topic, beside Spark's Kafka source
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.load $(LOAD_OPTIONS)

.PHONY: bench-latency
bench-latency: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure how long a message takes to become a row, beside Spark's Kafka source
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.streams.latency

.PHONY: bench-realtime
bench-realtime: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure the latency of Spark's real-time mode, beside Spark's Kafka source
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.streams.realtime $(REALTIME_OPTIONS)

.PHONY: bench-checkpoints
bench-checkpoints: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure checkpoints in topics beside those in a local path
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.checkpoints $(CHECKPOINTS_OPTIONS)

.PHONY: bench-backlog
bench-backlog: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure how fast a stream with a limit reads a backlog, beside Spark's Kafka source
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.streams.backlog $(BACKLOG_OPTIONS)

.PHONY: bench-writing
bench-writing: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure topics by row, exactly-once writes and small epochs beside Spark's Kafka sink
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.writes.writing

.PHONY: bench-incumbent
bench-incumbent: .venv-4.1/.ready $(PACKAGED_JAR) ## Measure writes beside streamnative/pulsar-spark, INCUMBENT=path of its jar
	PYTHONPATH=integration .venv-4.1/bin/python -m benchmarks.writes.incumbent $(INCUMBENT)

.PHONY: bench-micro
bench-micro: $(VENV)/.ready ## Measure single parts against what libraries have for them
	$(SBT) micro/run

.PHONY: bench-profile
bench-profile: .venv-4.1/.ready $(PACKAGED_JAR) ## Show where the connector's CPU time goes
	.venv-4.1/bin/python -m benchmarks.profile

.PHONY: docs
docs: $(VENV)/.ready ## Write the generated pages and sources anew
	$(VENV)/bin/python tools/generate.py
	UPDATE=1 $(SBT) -warn "connector/testOnly *ColumnsPageSuite *MetadataPageSuite"

.PHONY: site
site: .venv-site/.ready ## Build the site of the pages in target/site/html; warnings and links that lead nowhere are errors
	PYTHONPATH=tools:python .venv-site/bin/python -m docsite

.PHONY: site-looks
site-looks: site ## Look at each page of the site in Chromium, on a phone and a desktop, and compare pictures of one with a piece of each
	PYTHONPATH=tools:python .venv-site/bin/python -m docsite.looks

.PHONY: site-version
site-version: site ## Add the site of this version to a folder with those of others, INTO=path
	PYTHONPATH=tools:python .venv-site/bin/python -m docsite.versions $(or $(INTO),$(error INTO=path names the folder))

.PHONY: plot
plot: $(VENV)/.ready ## Draw the committed results of benchmarks anew
	$(VENV)/bin/python -m benchmarks.plot
	PYTHONPATH=integration $(VENV)/bin/python -m benchmarks.checkpoints --pages
	PYTHONPATH=integration:. $(VENV)/bin/python -m nemesis --pages --output docs/develop

# Not part of any other target: it compiles everything twice and makes the documentation jar.
.PHONY: release-check
release-check: $(VENV)/.ready ## Build all that a release publishes, twice, and check it; signs and uploads nothing
	PYTHONPATH=tools $(VENV)/bin/python -m release

.PHONY: clean
clean: ## Remove everything made in this folder; downloads stay in their caches
	rm -rf $(VENV) $(OTHER_LINES:%=.venv-%) $(OTHER_PYTHONS:%=.venv-python-%) .venv-site dist target connector/target project/target project/project \
	  python/pulsar_spark/jars .mypy_cache .ruff_cache .pytest_cache

PIP := -m pip --quiet --disable-pip-version-check

# The main environment holds what every Spark line uses, and the checks of the source.
$(VENV)/.ready: $(patsubst %,python/requirements-%.txt,test $(MAIN_LINE) dev) python/pyproject.toml python/pulsar_spark/_version.py
	tools/check-machine
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install --no-compile $(patsubst %,-r %,$(filter %.txt,$^))
	$(VENV)/bin/python $(PIP) install --no-deps --no-build-isolation -e python
	touch $@

# The environment of another Spark line holds its PySpark alone, that of the site what builds it: the packages of the main
# one are behind it on the path.
OTHER_ENVIRONMENTS := $(OTHER_LINES:%=.venv-%/.ready)
$(OTHER_ENVIRONMENTS) .venv-site/.ready: .venv-%/.ready: python/requirements-%.txt $(VENV)/.ready
	$(VENV)/bin/python -m venv --clear --without-pip $(@D)
	$(VENV)/bin/python $(PIP) --python $(@D)/bin/python install --no-compile -r $<
	main=$$($(VENV)/bin/python -c "$(PACKAGES)") && echo "import site; site.addsitedir('$$main')" > $$($(@D)/bin/python -c "$(PACKAGES)")/main.pth
	touch $@
PACKAGES := import sysconfig; print(sysconfig.get_path('purelib'))

# What runs on a Spark line. The packages that Spark Connect needs in Python are beside its environment.
define spark-line
.PHONY: smoke-$(1) connect-$(1)
smoke-$(1): $(2)/.ready $(PACKAGED_JAR)
	$(2)/bin/python $(PYTEST) $(foreach test,$(sort $(SMOKE) $(SMOKE_$(1))),$(call path-of,$(test)))

$(2)/connect/.ready: python/requirements-connect.txt $(2)/.ready
	rm -rf $$(@D)
	$(VENV)/bin/python $(PIP) install --no-compile --no-deps --target $$(@D) -r $$<
	touch $$@

connect-$(1): $(2)/connect/.ready $(PACKAGED_JAR)
	PYTHONPATH=$(abspath $(2)/connect) $(2)/bin/python $(PYTEST) $(foreach test,test_connect $(PIPELINES_$(1)),$(call path-of,$(test)))
	PYTHONPATH=$(abspath $(2)/connect) $(2)/bin/python $(PYTEST) $(call path-of,test_shared_server)
endef
# Spark 4.0 has no declarative pipelines.
$(foreach line,$(filter-out 4.0,$(OTHER_LINES) $(MAIN_LINE)),$(eval PIPELINES_$(line) := test_pipelines))
SMOKE := test_smoke test_real_time_lines
# All columns on the oldest line too. Streams have hidden ones from Spark 4.2 on: test_smoke reads one of these. Reports of
# exactly-once tasks travel in a class of Spark's own, which test_kryo shows.
SMOKE_4.0 := test_metadata_columns test_kryo
MORE_ON_OTHER_LINES := test_checkpoint_stores test_kryo test_metadata_columns test_read_messages test_read_offsets test_read_schemas test_stream_restarts test_write_messages test_write_streams test_tables
$(foreach line,$(OTHER_LINES),$(eval $(call spark-line,$(line),.venv-$(line))))
$(eval $(call spark-line,$(MAIN_LINE),$(VENV)))

# What the package has to pass on another Python: python3.12 and the like. Its packages are the newest that fit it, as a
# user's pip takes them, not the pinned ones.
define other-python
.venv-python-$(1)/.ready: python/pyproject.toml
	test -x $$(@D)/bin/python || python$(1) -m venv $$(@D)
	$$(@D)/bin/python $(PIP) install "pip>=25.1"
	$$(@D)/bin/python $(PIP) install --no-compile --group python/pyproject.toml:dev -e python
	touch $$@

.PHONY: python-$(1)
python-$(1): .venv-python-$(1)/.ready $(PACKAGED_JAR)
	.venv-python-$(1)/bin/python $(PYTEST) python/tests
	.venv-python-$(1)/bin/python $(PYTEST) $(foreach test,$(PYTHON_SMOKE),$(call path-of,$(test)))
endef
PYTHON_SMOKE := test_smoke test_facade test_python_api test_testing test_tools test_session_options
$(foreach python,$(OTHER_PYTHONS),$(eval $(call other-python,$(python))))

EXECUTOR_TESTS := $(wildcard integration/executors/test_*.py)

# What a server version has to pass.
SERVER_SMOKE := test_servers test_smoke test_read_messages test_read_schemas test_read_compacted test_read_transactions test_segments \
  test_stream_restarts test_write_messages test_write_streams
define server
.PHONY: server-$(1)
server-$(1): $(VENV)/.ready $(PACKAGED_JAR)
	PULSAR_SPARK_SERVER_VERSION=$(1) $(VENV)/bin/python $(PYTEST) -n $(WORKERS) --dist loadfile $(foreach test,$(SERVER_SMOKE),$(call path-of,$(test)))
endef
$(foreach version,$(SERVERS),$(eval $(call server,$(version))))

# Spark's Ivy of the environment downloads sbt.
$(JAR): $(JAR_INPUTS) | $(VENV)/.ready
	$(SBT) -warn connector/publish

$(PACKAGED_JAR): $(JAR)
	rm -rf $(@D)
	mkdir -p $(@D)
	cp $< $@

$(WHEEL): $(PACKAGED_JAR) $(WHEEL_INPUTS) | $(VENV)/.ready
	cd python && ../$(VENV)/bin/python -m hatchling build -t wheel -d ../dist
	touch $@
