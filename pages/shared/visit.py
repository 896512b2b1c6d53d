"""What one session holds, in one typed place: `visit()`.

Nothing else of the app stands in `st.session_state`, apart from the values of Streamlit's own widgets, which only
`widgets` and the callbacks of single elements read.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from time import time_ns
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from fairglvq.classroom.pace import Pace
from fairglvq.scenes.settings import Settings
from pages.shared.display import Display

if TYPE_CHECKING:  # for annotations only: a first picture must not wait for what other pages need
    import threading

    import pandas as pd

    from fairglvq.classroom.rooms import Seat
    from fairglvq.datasets import Dataset
    from fairglvq.datasets.streams import Drift
    from fairglvq.datasets.table import Plan, Reading
    from fairglvq.experiments.engine import SweepRun
    from fairglvq.experiments.paper import Experiment
    from fairglvq.experiments.streaming import LiveStream
    from fairglvq.explain import Measure, Order
    from fairglvq.explain.view import View
    from fairglvq.lesson.progress import Progress
    from fairglvq.scenes.service import Job, TrainedScene
    from fairglvq.scenes.training import Film
    from fairglvq.tradeoff.choice import Choice
    from fairglvq.tradeoff.scenario import Scenario


@dataclass
class Address:
    """The parameters of a page in the address bar."""

    written: dict[str, str] | None = None
    """The present ones; None before the first run."""
    entries: int = -1
    """The number of pages entered when they were last read."""
    sent: tuple[int, dict[str, str]] | None = None
    """The number of pages entered, and the parameters that then passed between server and browser last."""

    def link_to_follow(self) -> dict[str, str] | None:
        """The link to follow in this run: on the first, after Back or Forward, and where a link led to the page.

        In any other run the address may be outdated, because the browser had not received the last change yet, or bare,
        because the page was chosen in the menu.
        """
        context, here = get_script_run_ctx(), visit()
        says_more = any(name not in here.display.to_query() for name in st.query_params)
        by_link, self.entries = says_more and self.entries != here.entries, here.entries
        if self.written is not None and not by_link and not (context and context.is_history_navigation):
            return None
        self.written = st.query_params.to_dict()
        self.sent = here.entries, self.written
        return self.written

    def write(self, query: dict[str, str]) -> None:
        """Write what is shown into the address, and the parameters of the display.

        Also if the parameters of this run are the same: they may be older than what the server sent last, or than the
        browser's entering this page, which empties its address.
        """
        here = visit()
        query = query | here.display.to_query()
        if self.sent != (here.entries, query) or query != st.query_params.to_dict():
            st.query_params.from_dict(query)
        self.written, self.sent = query, (here.entries, query)


@dataclass
class WidgetState:
    """A widget: its number, the value it was made with, and its present value."""

    number: int
    first: Any
    value: Any
    options: Any


@dataclass
class ModelVisit:
    """A model in view: the one of the playground and the prototypes page, or the lesson's."""

    settings: Settings = field(default_factory=Settings)
    history: list[Settings] = field(default_factory=list)
    address: Address = field(default_factory=Address)
    repairs: list[str] = field(default_factory=list)  # what had to be repaired in the link
    shown: tuple[Settings, TrainedScene] | None = None
    explained: tuple[TrainedScene, View] | None = None  # of which training
    job: Job | None = None
    film_jobs: dict[str, Job] = field(default_factory=dict)  # by method
    awaited: list[Job] = field(default_factory=list)  # jobs whose end changes the page
    # what belongs to the stage
    view: dict[str, Any] | None = None
    reply: dict[str, Any] | None = None
    facts: dict[str, Any] | None = None
    films: dict[str, Film] = field(default_factory=dict)
    autoplay: Settings | None = None
    fresh: Settings | None = None  # chosen as a whole: the stage shows the end of their training
    acknowledged: int = 0  # serial number of the last gesture carried out


@dataclass
class RunVisit:
    """The run that is computed for a page of this visit; `runs` begins, watches and stops it."""

    run: SweepRun | None = None
    left_run: SweepRun | None = None  # no longer watched here, but under way for another visitor
    store_problem: str = ""


@dataclass
class CurveVisit(RunVisit):
    """The curve in view on the trade-off page, and what is being computed for it."""

    choice: Choice | None = None
    problem: str = ""  # why it cannot be computed
    address: Address = field(default_factory=Address)
    repairs: list[str] = field(default_factory=list)
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)  # by method: strengths typed, why they are wrong
    point: str | None = None
    front: bool = True
    limit: bool = True
    published: bool = False
    logarithmic: bool = False
    strength_of: str | None = None
    keep_scores: bool = False
    accepted: float | None = None  # the largest gap allowed, in points
    scenario_name: str = ""
    scenarios: list[tuple[tuple[str, str], Scenario]] = field(default_factory=list)  # of which data set and table
    limits: dict[tuple, Future] = field(default_factory=dict)
    run_choice: Choice | None = None


@dataclass
class RegressionVisit:
    """Predicted numbers in view on the trade-off page."""

    shown: str = "decisions"  # or "numbers"
    task: str = "communities"
    measure: str = ""  # the first that the task has, until one is chosen
    C: float = 1.0
    leaves: int = 20
    jobs: dict[tuple, Job] = field(default_factory=dict)


@dataclass
class PrototypesVisit:
    """What is looked at on the prototypes page."""

    method: str = ""  # the last one beside GLVQ, until one is chosen
    section: str = "cards"
    measure: Measure = "statistical_parity"
    order: Order = "contribution"
    all_cards: bool = False
    all_pairs: bool = False
    opened: tuple[tuple[Settings, str], int] | None = None  # of which model, which card
    way: str = "changed"  # to choose a person
    person: tuple[str, int] | None = None  # data set and place
    unknown_row: int | None = None
    search: str = ""
    typed: tuple[tuple, dict[str, float | str]] | None = None  # for whom, and the values
    immutable: tuple[tuple[str, ...], list[str]] | None = None  # of these columns, those that nobody can change


@dataclass
class LessonVisit:
    """The progress of the lesson, and its own model, apart from the playground's."""

    progress: Progress | None = None  # None before the link was read
    repaired: Progress | None = None  # what was left of a link that could not be followed as a whole
    language: str = "en"
    address: Address = field(default_factory=Address)
    model: ModelVisit = field(default_factory=ModelVisit)
    shown: tuple[int, bool] | None = None  # the step on the stage, and whether its outcome is shown
    entries: int = 0  # how often a step was entered: each time with a stage of its own
    deeds: set[tuple[str, str]] = field(default_factory=set)  # steps and what was done in them
    typed: tuple[str, float] | None = None  # in which step, and the number
    hints: dict[str, int] = field(default_factory=dict)  # shown so far, by challenge


@dataclass
class PaperVisit(RunVisit):
    """What is looked at on the paper's page."""

    section: str = "table1"
    address: Address = field(default_factory=Address)
    repairs: list[str] = field(default_factory=list)
    figure: str = "compas"  # the data set of Figure 2
    reason: str = "step"
    gap: int = 5  # the largest one allowed, in points
    compared: str = "adult"
    # the step that is taken apart
    dataset: str = "xor"
    prototypes: int = 4
    C: float = 1.25
    epochs: int = 10
    batch: int = 3  # the first one with points of both classes and groups
    step: str = "published"
    point: int = 1
    # what is computed here
    cell: Experiment | None = None
    seeds: int = 1
    run_cell: Experiment | None = None
    rows: dict[Experiment, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass
class StreamVisit:
    """The stream in view."""

    address: Address = field(default_factory=Address)
    repairs: list[str] = field(default_factory=list)
    dataset: str = "xor"
    drift: Drift = "border"
    C: float = 1.0
    playing: bool = False
    live: LiveStream | None = None


@dataclass
class StudentVisit:
    """A place in a class that does the lesson."""

    seat: Seat | None = None
    pace: Pace = field(default_factory=Pace)
    notice: str = ""  # why there is no longer a seat, as a key of the lesson's words
    noticed: Progress | None = None  # the progress when the notice was first shown
    opened: int = 0  # the last step that the link has opened


@dataclass
class TeachVisit:
    """The room that is taught in, and what is looked at in it."""

    address: Address = field(default_factory=Address)
    code: str = ""
    key: str = ""
    problem: str = ""
    language: str = "en"
    step: int | None = None  # whose predictions are in view; None: where the class is
    hold_at: int = 1
    challenge: str = ""  # in view; none: the first
    ending: bool = False  # asked whether to end the room


@dataclass
class LinkVisit:
    """A link that a teacher puts together."""

    page: str = "lesson"
    step: int = 1
    language: str = "en"
    picture: str = ""  # a preset; none: the model in view
    seed: int | None = None  # the picture's own
    model: dict[str, str] = field(default_factory=dict)  # the picture and its seed as parameters
    display: Display = field(default_factory=Display)
    embedded: bool = False


@dataclass
class TableVisit:
    """A visitor's own table on its way from a file to a data set."""

    raw: tuple[bytes | str, str, bool] | None = None  # content, name, whether to skip rows that do not fit
    ragged: tuple[bytes | str, str, bool] | None = None  # the same, refused for rows that do not fit
    problem: tuple[str, int] | None = None  # in words, and how many rows do not fit
    is_example: bool = False
    uploader: int = -1  # number of the uploader in view
    pasted: str = ""
    reading: Reading | None = None
    name: str = ""
    draft: Plan | None = None
    serial: int = 0  # of the table read
    editor: int = -1  # number of the table of columns in view
    editor_base: pd.DataFrame | None = None
    built: tuple[int, Plan, tuple] | None = None  # of which table and draft: data and profile, or a problem
    # the table in use on all pages
    data: Dataset | None = None
    used: tuple[int, Plan] | None = None
    script: str = ""


@dataclass
class Download:
    """COMPAS on its way to this computer."""

    thread: threading.Thread | None = None
    share: float = 0.0
    stopped: bool = False
    error: str = ""
    seen: bool = False  # that it ended

    @property
    def busy(self) -> bool:
        """Whether it is under way."""
        return self.thread is not None and self.thread.is_alive()


LESSON = "lesson"
"""The address of the lesson's page."""


@dataclass
class Visit:
    """Everything that the app keeps of one session."""

    page: str | None = None
    entries: int = 0  # how often a page was entered from another one
    page_hashes: dict[str, str] = field(default_factory=dict)  # what Streamlit calls the pages entered so far
    more_open: tuple[bool, bool] = (False, False)  # settings that few need: when they were drawn first, and now
    display: Display = field(default_factory=Display)
    display_address: Address = field(default_factory=Address)
    widgets: dict[str, WidgetState] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(time_ns()))
    """For keys of widgets: none is used twice, nor by the next session, to which a browser sends what it holds of the
    one before when the server was started again."""
    own_model: ModelVisit = field(default_factory=ModelVisit)  # of all pages but the lesson
    curve: CurveVisit = field(default_factory=CurveVisit)
    regression: RegressionVisit = field(default_factory=RegressionVisit)
    prototypes: PrototypesVisit = field(default_factory=PrototypesVisit)
    lesson: LessonVisit = field(default_factory=LessonVisit)
    paper: PaperVisit = field(default_factory=PaperVisit)
    student: StudentVisit = field(default_factory=StudentVisit)
    teach: TeachVisit = field(default_factory=TeachVisit)
    links: LinkVisit = field(default_factory=LinkVisit)
    stream: StreamVisit = field(default_factory=StreamVisit)
    table: TableVisit = field(default_factory=TableVisit)
    download: Download = field(default_factory=Download)

    @property
    def model(self) -> ModelVisit:
        """The model of the page in view."""
        return self.lesson.model if self.page == LESSON else self.own_model

    def fixes(self, name: str) -> bool:
        """Whether the link keeps a visitor from changing a setting; the lesson has its own controls."""
        return self.page != LESSON and self.display.fixes(name)


KEY = "visit"


def visit() -> Visit:
    """The visit of the present session."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Visit()
    found: Visit = st.session_state[KEY]
    return found


def begin_anew() -> None:
    """Delete everything but the page in view, also the state of widgets."""
    before = visit()
    for name in list(st.session_state):
        del st.session_state[name]
    st.session_state[KEY] = Visit(
        page=before.page,
        page_hashes=before.page_hashes,
        display=before.display,
        display_address=before.display_address,
        numbers=before.numbers,
    )
