"""Batches: how many answers a second does each recipe of `docs/batches.md` judge, beside `rulebook replay`?

    python scripts/batches.py [COUNT [ROUNDS]]

Every engine judges the same answers, which are in a Parquet file, and gives all columns; `replay` reads the same answers as
lines of JSON, and writes the outcomes to a file. Engines take turns in each round; the figures are medians.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "batches"))

import answers  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402
import recipes  # noqa: E402

import rulebook  # noqa: E402
from rulebook import arrow  # noqa: E402


def main() -> None:
    count, rounds = (int(one) for one in [*sys.argv[1:], *["20000", "5"][len(sys.argv) - 1 :]])
    with tempfile.TemporaryDirectory() as folder:
        runs = engines(pathlib.Path(folder), count)
        times: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(rounds + 1):
            for name, run in runs.items():
                started = time.perf_counter()
                run()
                if number > 0:  # The first is to warm up.
                    times[name].append(time.perf_counter() - started)
        base = statistics.median(times["replay --out"])
        for name, seconds in times.items():
            middle = statistics.median(seconds)
            spread = f"{count / max(seconds):,.0f} to {count / min(seconds):,.0f}"
            print(f"{name:28} {count / middle:10,.0f} answers/s  {base / middle:5.2f}  ({spread})")


def engines(folder: pathlib.Path, count: int) -> dict[str, Callable[[], Any]]:
    """What is measured, by its name."""
    texts = list(answers.answers(count))
    print(f"{count:,} answers of {sum(len(text.encode()) for text in texts) / count:,.0f} bytes in the mean")
    lines, source, target = (folder / name for name in ("answers.jsonl", "answers.parquet", "judged.parquet"))
    lines.write_text("".join(json.dumps({"response": text}) + "\n" for text in texts), encoding="utf-8")
    table = pa.table({"id": pa.array(range(count), pa.int64()), "answer": texts})
    pyarrow.parquet.write_table(table, source, row_group_size=4000)
    program = rulebook.Program.load(answers.PACK)

    def replay(*options: str) -> None:
        command = [sys.executable, "-m", "rulebook", "replay", str(answers.PACK), str(lines), *options]
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        assert status == 0, status

    def one_by_one() -> None:
        session = program.session()
        for text in texts:
            program.run(session, text).to_json()

    runs: dict[str, Callable[[], Any]] = {
        "replay": replay,
        "replay --out": lambda: replay("--out", str(folder / "outcomes.jsonl")),
        "program.run, to_json": one_by_one,
        "evaluate, without outcome": lambda: arrow.evaluate(table, program, columns=arrow.COLUMNS[:-1]).read_all(),
        "evaluate": lambda: arrow.evaluate(table, program).read_all(),
        "evaluate, one thread": lambda: arrow.evaluate(table, program, threads=1).read_all(),
    }
    loaded = {package: recipes.recipes(package) for package in recipes.PACKAGES if recipes.installed(package)}
    for names in loaded.values():
        names["program"] = program
    runs["Parquet to Parquet"] = lambda: loaded["pyarrow"]["with_files"](str(source), str(target))
    if "polars" in loaded:
        import polars

        runs["Polars"] = lambda: loaded["polars"]["with_polars"](polars.read_parquet(source))
    if "duckdb" in loaded:
        import duckdb

        runs["DuckDB"] = lambda: loaded["duckdb"]["with_duckdb"](duckdb.connect(), f"from '{source}'")
    if "datasets" in loaded:
        import datasets

        datasets.disable_caching()
        dataset = datasets.Dataset.from_parquet(str(source), cache_dir=str(folder))
        runs["datasets"] = lambda: loaded["datasets"]["with_datasets"](dataset)
    if "daft" in loaded:
        import daft

        runs["Daft"] = lambda: loaded["daft"]["with_daft"](daft.read_parquet(str(source))).collect()
    if "pyspark" in loaded:
        import pyspark.sql

        builder = pyspark.sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        spark = builder.getOrCreate()
        frame = spark.read.parquet(str(source)).repartition(8).cache()
        runs["Spark, local[2,4]"] = lambda: loaded["pyspark"]["with_spark"](frame).write.format("noop").mode(
            "overwrite"
        ).save()
    if "ray" in loaded:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        runs["Ray Data"] = lambda: loaded["ray"]["with_ray"](ray.data.read_parquet(str(source))).materialize()
    return runs


if __name__ == "__main__":
    main()
