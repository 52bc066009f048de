"""Engines: does each recipe of the page come to the same, in every engine?

Engines that are not installed are skipped, and the reason names them.
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys
from typing import Any, Callable, Iterator

import pytest

pa = pytest.importorskip("pyarrow")

import answers  # noqa: E402
import pyarrow.parquet  # noqa: E402
import recipes  # noqa: E402

import rulebook  # noqa: E402
from rulebook import arrow  # noqa: E402

COUNT = int(os.environ.get("RULEBOOK_ANSWERS", "40000"))


def recipe(package: str) -> Callable[[str], Any]:
    """A function of the page, for the pack of the answers."""
    if not recipes.installed(package):
        pytest.skip(f"{package} is not installed")
    names = recipes.recipes(package)
    names["program"] = rulebook.Program.load(answers.PACK)
    return names.__getitem__


@pytest.fixture(scope="session")
def table() -> Any:
    """Answers, some of which are null."""
    texts = (None if number % 1000 == 7 else text for number, text in enumerate(answers.answers(COUNT)))
    return pa.table({"id": pa.array(range(COUNT), pa.int64()), "answer": pa.array(texts, pa.string())})


@pytest.fixture(scope="session")
def source(table: Any, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("batches") / "answers.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=4000)
    return path


@pytest.fixture(scope="session")
def expected(table: Any) -> dict[str, Any]:
    """The sums of outcomes that come one at a time, without Arrow."""
    program = rulebook.Program.load(answers.PACK)
    session = program.session()
    sums: dict[str, Any] = dict.fromkeys(["accepted", "dropped", "codes"], 0)
    outcomes: list[str | None] = []
    for answer in table["answer"].to_pylist():
        if answer is None:
            outcomes.append(None)
            continue
        outcome = program.run(session, answer)
        sums[outcome.status] = sums.get(outcome.status, 0) + 1
        for call in outcome.calls:
            sums[call.verdict] = sums.get(call.verdict, 0) + 1
        sums["codes"] += len(outcome.diagnostics)
        outcomes.append(outcome.to_json())
    assert sums["clean"] > COUNT / 100 and sums["degraded"] > COUNT / 100 and sums["accepted"] > COUNT / 100
    sums["checksum"] = answers.checksum(outcomes)
    return sums


def counts(rows: Any) -> dict[str, Any]:
    assert len(rows) == COUNT and rows["status"].null_count == COUNT // 1000
    assert sorted(rows["id"].to_pylist()) == list(range(COUNT))
    return answers.counts(rows)


def files(pack: pathlib.Path) -> dict[str, str]:
    paths = [path for path in pack.rglob("*") if path.is_file()]
    return {path.relative_to(pack).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_the_first_snippets_of_the_page_run() -> None:
    recipes.recipes("pyarrow")


def test_pyarrow(source: pathlib.Path, tmp_path: pathlib.Path, expected: dict[str, Any]) -> None:
    target = tmp_path / "judged.parquet"
    recipe("pyarrow")("with_files")(str(source), str(target))
    assert counts(pyarrow.parquet.read_table(target)) == expected


def test_polars(table: Any, source: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("polars")
    import polars

    assert counts(of("with_polars")(polars.DataFrame(table)).to_arrow()) == expected
    assert counts(of("with_lazy_polars")(polars.scan_parquet(source)).read_all()) == expected


def test_duckdb(source: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("duckdb")
    import duckdb

    with duckdb.connect() as database:
        assert counts(of("with_duckdb")(database, f"from '{source}'")) == expected


def test_datasets(source: pathlib.Path, tmp_path: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("datasets")
    import datasets

    dataset = datasets.Dataset.from_parquet(str(source), cache_dir=str(tmp_path))
    judged = of("with_datasets")(dataset)
    assert counts(judged.data.table) == expected
    # The cache knows the program by its content.
    pack: dict[str, Any] = files(answers.PACK)
    few = dataset.select(range(10))
    prints = []
    for program in [pack, dict(pack), {**pack, "pack.toml": pack["pack.toml"] + "\n# Changed.\n"}]:
        names = recipes.recipes("datasets")
        names["program"] = rulebook.Program.load(program)
        prints.append(names["with_datasets"](few)._fingerprint)
    assert prints[0] == prints[1] != prints[2]


def test_datasets_that_stream(source: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("datasets")
    import datasets

    streamed = datasets.load_dataset("parquet", data_files=str(source), streaming=True, split="train")
    judged = of("with_datasets")(streamed)
    assert counts(pa.concat_tables(judged.with_format("arrow").iter(1000))) == expected


def test_daft(source: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("daft")
    import daft

    judged = of("with_daft")(daft.read_parquet(str(source))).to_arrow()
    assert counts(judged) == expected


def spark_session(master: str) -> Any:
    if not any(os.access(os.path.join(folder, "java"), os.X_OK) for folder in os.get_exec_path()):
        pytest.skip("Spark needs java, which is not installed")
    import pyspark.sql

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark.sql.SparkSession.builder.master(master).appName("rulebook")
    settings = {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def test_spark(source: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("pyspark")
    spark = spark_session("local[2,4]")
    try:
        frame = spark.read.parquet(str(source)).repartition(8)
        judged = of("with_spark")(frame)
        assert counts(judged.toArrow()) == expected
        # Some of the parts of this table have no rows.
        assert of("with_spark")(frame.limit(1).repartition(4)).count() == 1
    finally:
        spark.stop()


def test_spark_goes_on_after_a_worker_was_killed(
    source: pathlib.Path, tmp_path: pathlib.Path, expected: dict[str, Any]
) -> None:
    of = recipe("pyspark")
    spark = spark_session("local[2,4]")
    killed = str(tmp_path / "killed")

    def fatal(batches: Iterator[Any]) -> Iterator[Any]:
        """The first worker that has judged a batch ends in the middle of its part of the table."""
        for number, batch in enumerate(batches):
            yield batch
            if number == 0:
                try:
                    os.close(os.open(killed, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
        judged = of("with_spark")(spark.read.parquet(str(source)).repartition(8))
        rows = judged.mapInArrow(fatal, judged.schema).toArrow()
        assert os.path.exists(killed)
        assert counts(rows) == expected
    finally:
        spark.stop()


def test_ray(source: pathlib.Path, expected: dict[str, Any]) -> None:
    of = recipe("ray")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        judged = of("with_ray")(ray.data.read_parquet(str(source)))
        assert counts(pa.concat_tables(ray.get(judged.to_arrow_refs()))) == expected
    finally:
        ray.shutdown()


def test_the_columns_are_those_of_the_page() -> None:
    text = recipes.PAGE.read_text(encoding="utf-8")
    for name in arrow.COLUMNS:
        assert f"`{name}`" in text
