"""Experiment trackers that take a sweep's runs, in formats that need no server. Each is a class: `packages`, of which
it needs one; `whole`, if a run is written once, after it has ended; `view`, the command that shows the runs; `faults`,
what its package raises; and write(), which writes what is new of a run (logged.News)."""

from __future__ import annotations

import importlib
import logging
import os
from typing import Any

from .logged import News

METRICS_AT_ONCE, PARAMETERS_AT_ONCE = 1000, 100  # that MLflow takes
COMPARED = ("norm_growth", "growth_exponent", "final_train_loss", "final_valid_loss")  # in TensorBoard's table of runs
STATUS = {"done": "FINISHED", "diverged": "FINISHED", "failed": "FAILED"}  # of MLflow


def module(*names: str) -> Any:
    """The first of some modules that is there. ModuleNotFoundError names the first one."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"no module {names[0]} here: pip install {names[0]}", name=names[0])


def file_name(name: str) -> str:
    """A run's name as that of a folder."""
    safe = name.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe


def final(name: str) -> str:
    """The name of a final value in TensorBoard, which shows those with one prefix together."""
    return f"final/{name.removeprefix('final_')}"


class TensorBoard:
    """Event files, FOLDER/SWEEP/RUN/events.out.tfevents...: axes as hyperparameters, series and final values as
    scalars, other settings and words as texts."""

    packages = ("tensorboardX", "torch.utils.tensorboard")
    whole = False
    view = "tensorboard --logdir {folder}"

    def __init__(self, folder: str, sweep: str, title: str):
        self.folder, self.sweep = folder, sweep
        self.package = module(*self.packages)
        self.faults: tuple[type[Exception], ...] = ()

    def write(self, run: News, kept: dict[str, Any]) -> None:
        number = kept["files"] = kept.get("files", 0) + 1  # names of files differ by seconds otherwise
        writer = self.package.SummaryWriter(os.path.join(self.folder, file_name(self.sweep), file_name(run.name)),
                                            filename_suffix=f".{number:06d}")
        try:
            if number == 1:
                self.describe(writer, run)
            for step, row in run.rows:
                for name, value in row.items():
                    writer.add_scalar(name, value, step, walltime=run.time_of(step))
            for name, value in run.finals.items():
                writer.add_scalar(final(name), value, run.last_step, walltime=run.end)
            if run.ended:
                for name, word in run.words.items():
                    writer.add_text(name, word, run.last_step, walltime=run.end)
        finally:
            writer.close()

    def describe(self, writer: Any, run: News) -> None:
        hparams = importlib.import_module(f"{self.package.__name__}.summary").hparams
        for summary in hparams(run.axes, {final(name): 0.0 for name in COMPARED if name in run.measures}):
            writer.file_writer.add_summary(summary)
        table = "\n".join(f"| {name} | {value} |" for name, value in run.settings.items())
        writer.add_text("settings", f"| key | value |\n|---|---|\n{table}", 0, walltime=run.begin)


class MLflow:
    """MLflow's file store: the sweep is an experiment."""

    packages = ("mlflow",)
    whole = False
    view = "MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri {folder}"

    def __init__(self, folder: str, sweep: str, title: str):
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions refuse to open it otherwise
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        module(*self.packages)
        logging.getLogger("mlflow").setLevel(logging.ERROR)
        self.faults = (importlib.import_module("mlflow.exceptions").MlflowException,)
        self.entities = importlib.import_module("mlflow.entities")
        self.client = importlib.import_module("mlflow.tracking").MlflowClient(f"file:{os.path.abspath(folder)}")
        there = self.client.get_experiment_by_name(sweep)
        self.experiment = there.experiment_id if there else self.client.create_experiment(sweep)
        if not there and title:
            self.client.set_experiment_tag(self.experiment, "mlflow.note.content", title)

    def write(self, run: News, kept: dict[str, Any]) -> None:
        if "run" not in kept:
            begun = None if run.begin is None else round(1000 * run.begin)
            kept["run"] = self.client.create_run(self.experiment, start_time=begun, run_name=run.name).info.run_id
            said = [self.entities.Param(name, str(value)) for name, value in {**run.axes, **run.settings}.items()]
            for first in range(0, len(said), PARAMETERS_AT_ONCE):
                self.client.log_batch(kept["run"], params=said[first:first + PARAMETERS_AT_ONCE])
        metrics = [self.metric(name, value, step, run) for step, row in run.rows for name, value in row.items()]
        metrics += [self.metric(name, value, run.last_step, run) for name, value in run.finals.items()]
        for first in range(0, len(metrics), METRICS_AT_ONCE):
            self.client.log_batch(kept["run"], metrics=metrics[first:first + METRICS_AT_ONCE])
        for name, word in run.words.items():
            self.client.set_tag(kept["run"], name, word)
        if run.ended:
            self.client.set_terminated(kept["run"], STATUS[run.outcome],
                                       None if run.end is None else round(1000 * run.end))

    def metric(self, name: str, value: float, step: int, run: News) -> Any:
        time = run.time_of(step)
        return self.entities.Metric(name, value, round(1000 * time) if time is not None else 0, step)


class WandB:
    """Weights & Biases, offline: a folder FOLDER/wandb/offline-run-... for each run, whose file holds all of it. So
    runs under way wait until they have ended."""

    packages = ("wandb",)
    whole = True
    view = "wandb sync {folder}/wandb/offline-run-*"

    def __init__(self, folder: str, sweep: str, title: str):
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        self.package = module(*self.packages)
        self.faults = (self.package.Error,)
        self.folder, self.sweep, self.title = folder, sweep, title

    def write(self, run: News, kept: dict[str, Any]) -> None:
        quiet = self.package.Settings(console="off", silent=True, disable_git=True, save_code=False,
                                      x_disable_stats=True, x_disable_meta=True)
        with self.package.init(mode="offline", dir=self.folder, project=self.sweep, notes=self.title, name=run.name,
                               config={**run.axes, **run.settings}, settings=quiet) as writer:
            for step, row in run.rows:
                writer.log(row, step=step)
            writer.summary.update({**run.finals, **run.words})
        kept["run"] = writer.id


TRACKERS = {"tensorboard": TensorBoard, "mlflow": MLflow, "wandb": WandB}
