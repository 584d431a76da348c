"""The runs of an uploaded file: their names, their settings under the changes of the link, the jobs that compute them.

A trace file has three runs, a scenario file its own, a saved run is one. A run that refuses a changed setting says so; the
others are computed all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.settings import Settings, SettingsError
from engine.trace.trace import Trace
from scenarios.fields import ScenarioError
from scenarios.scenario import Scenario
from scenarios.source import Source
from viz.pages.parts import runs, uploads
from viz.pages.parts.jobs import Job
from viz.pages.parts.runs import Finished
from viz.pages.parts.upload_link import Visit
from viz.pages.parts.uploads import Upload


@dataclass(frozen=True)
class FileRuns:
    """All runs of a file; `refused` has a sentence for each that cannot have the settings of the visit."""

    upload: Upload
    source: Source
    visit: Visit
    told: Mapping[str, Scenario]
    refused: Mapping[str, str]
    jobs: dict[str, Job[Finished]] = field(default_factory=dict)

    def job(self, name: str, after: Job[Finished] | None = None) -> Job[Finished]:
        """The job of a run. Raises ScenarioError with one sentence for a refused one."""
        if name in self.refused:
            raise ScenarioError(self.refused[name])
        if name not in self.jobs:
            self.jobs[name] = self._begin(name, after)
        return self.jobs[name]

    def _begin(self, name: str, after: Job[Finished] | None) -> Job[Finished]:
        if self.source.trace is not None:
            return runs.saved(self.upload.digest, self.source.title, name, self.source.trace)
        return runs.job(self.told[name], name, self._content, after)

    def begin_all(self) -> None:
        """Begin with the run of the visit, then the others one by one."""
        for name in dict.fromkeys((self.visit.run, *names_of(self.source))):
            if name not in self.refused:
                self.job(name, next(reversed(self.jobs.values()), None))

    def stop_all(self) -> None:
        for job in self.jobs.values():
            job.stop()

    def ask_again(self) -> None:
        for job in self.jobs.values():
            job.ask_again()

    @property
    def scenario(self) -> Scenario:
        """All runs that can be computed, with their settings; of a trace or scenario file."""
        assert self.source.scenario is not None
        told = self.told.values()
        bookmarks = tuple(mark for one in told for mark in one.bookmarks)
        return replace(self.source.scenario, runs=tuple(one.runs[0] for one in told), bookmarks=bookmarks)

    @property
    def _content(self) -> str:
        return uploads.content_of(self.upload, self.visit.cut)


def names_of(source: Source) -> list[str]:
    return [source.run_name] if source.scenario is None else [run.name for run in source.scenario.runs]


def of(upload: Upload, source: Source, visit: Visit) -> FileRuns:
    """The runs of a file under the changes of the visit."""
    told: dict[str, Scenario] = {}
    refused: dict[str, str] = {}
    if source.scenario is not None:
        for name in names_of(source):
            try:
                told[name] = runs.of_one(source.scenario, name, visit.changes)
            except (SettingsError, ScenarioError) as error:
                refused[name] = str(error)
    return FileRuns(upload, source, visit, told, refused)


def machine_of_saved(trace: Trace) -> str:
    """What a saved run ran on. One of a real model says so itself; its settings name a card that it had nothing to do with."""
    remark: str = trace.header.get("remark", "")
    return remark or ("a real model" if trace.words else machine_of(trace.header["settings"]))


def machine_of(settings: Settings | Mapping[str, Any]) -> str:
    """ "Llama-3-8B on H100-80GB", or what takes their place."""
    values = settings.as_dict() if isinstance(settings, Settings) else settings
    if values.get("step_time") is not None:
        return f"every step takes {values['step_time']:g} s"
    number = values.get("num_devices", 1)
    return f"{values['model']} on {f'{number} x ' if number > 1 else ''}{values['hardware']}"
