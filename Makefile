# Two targets set up a fresh machine: `make demo` and `make test`. The others are for working on the project.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PATH := $(PATH):$(HOME)/.cargo/bin

SCRIPTS = Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu \
	Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Khmer Mongolian Hiragana Katakana \
	Bopomofo Han Yi Javanese Balinese Common Inherited
CATEGORIES = Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn Alphabetic

.PHONY: demo test page-test page-screenshots lint format bench fuzz memory scale counting resize-benchmark conversions stock-four transformers-tests unicode-tables clean

demo: $(VENV)/.installed
	$(BIN)/hf-bpe quickstart --output demo-output --force

test: $(VENV)/.installed-test
	cd native && cargo test --quiet --no-default-features --tests
	$(BIN)/python -m pytest -n auto --dist loadgroup

# The playground, used in a browser. PAGE: for pytest, such as PAGE="-k card".
page-test: $(VENV)/.installed-page
	$(BIN)/python -m pytest tests/playground/in_browser $(PAGE)

page-screenshots: $(VENV)/.installed-page
	$(BIN)/python -m tests.playground.in_browser.screenshots docs/images

# Debian's browser, where there is none; playwright would download one of its own, built for other systems.
$(VENV)/.installed-page: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --editable ".[page]"
	@command -v chromium || command -v chromium-browser || test -x "$(CHROMIUM)" || apt-get install --yes chromium || \
		{ echo "No Chromium: install it with what your system has, and set CHROMIUM to its path"; exit 1; }
	touch $@

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd native && cargo fmt --check
	cd native && cargo clippy --all-targets -- -D warnings

format: $(VENV)/.installed-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd native && cargo fmt

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.encode
	$(BIN)/python -m benchmarks.train
	$(BIN)/python -m benchmarks.plugin

# FUZZ: what all take, such as FUZZ="--seed 7". TEXTS: what the first two, edits and conversions take, such as
# TEXTS="--vocabularies DIR --corpus FILE".
fuzz: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz documents $(FUZZ) $(TEXTS)
	$(BIN)/python -m tests.fuzz strings $(FUZZ) $(TEXTS)
	$(BIN)/python -m tests.fuzz specs $(FUZZ)
	$(BIN)/python -m tests.fuzz pieces $(FUZZ)
	$(BIN)/python -m tests.fuzz readers $(FUZZ)
	$(BIN)/python -m tests.fuzz patterns $(FUZZ)
	$(BIN)/python -m tests.fuzz dialects $(FUZZ)
	$(BIN)/python -m tests.fuzz calls $(FUZZ)
	$(BIN)/python -m tests.fuzz streams $(FUZZ)
	$(BIN)/python -m tests.fuzz tiktoken $(FUZZ)
	$(BIN)/python -m tests.fuzz edits $(FUZZ) $(TEXTS)

# Ten million calls of the transformers plugin, and the memory held after each million.
memory: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.memory

# A text larger than its budget of memory, counted within it. COUNTING: such as COUNTING="--megabytes 1000 --limit 1GB --vocab-size 32000",
# which trains on it as well.
counting: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.counting $(COUNTING)

# Resizing a checkpoint of 10 GB, beside cp; takes three times as much of the disk. RESIZE="--gigabytes 2 --folder /other/disk/x".
resize-benchmark: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.resize $(RESIZE)

# What counting and encoding terabytes costs, from a sample. SCALE: such as SCALE="sample.txt --terabytes 10".
scale: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.scale $(SCALE)

conversions: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz conversions $(TEXTS)

# transformers' own tests of tokenizer classes, out of its source distribution. TESTS: for pytest, such as TESTS="-k padding".
transformers-tests: $(VENV)/.installed-test
	$(BIN)/python -m tests.transformers_common $(VENV)/transformers-tests $(TESTS)

# What we save, loaded by transformers 4, which cannot be installed beside 5: it gets an environment of its own.
stock-four: $(VENV)/.installed-test $(VENV)-four/.installed
	rm -rf $(VENV)-four/folders
	$(BIN)/python -m tests.stock_four write $(VENV)-four/folders
	$(VENV)-four/bin/python tests/stock_four/read.py $(VENV)-four/folders

$(VENV)-four/.installed:
	$(PYTHON) -m venv $(VENV)-four
	$(VENV)-four/bin/python -m pip install --quiet "transformers==4.57.*" jinja2
	touch $@

unicode-tables:
	cd native && cargo run --quiet --no-default-features --example unicode_tables $(CATEGORIES) $(SCRIPTS) > ../hf_bpe/engine/unicode_tables.json

# The sources of the package and of its native engine: any change makes the next target install anew.
SOURCES := pyproject.toml $(wildcard native/*.toml native/build.rs native/src/*.rs native/src/*/*.rs native/src/*/*/*.rs)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-%: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) $(VENV)-four build *.egg-info native/target demo-output
