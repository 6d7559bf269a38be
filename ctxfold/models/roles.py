"""`Roles`: the models that fold, plan, route and read beside whoever decides the steps, each of its own."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold.config import Role, RoleSetting, role_setting
from ctxfold.models.named import Absent, role_model
from ctxfold.models.protocol import Model

__all__ = ["Roles", "helpers"]


@dataclass(frozen=True, slots=True)
class Roles:
    """Who is asked for what; None for the embedded decider.

    Attributes:
        folder: writes tiles, and the texts of refactorings.
        planner: writes the register.
        router: chooses operators, and places messages on branches.
        reader: chooses lines of the log.
    """

    folder: Model | None = None
    planner: Model | None = None
    router: Model | None = None
    reader: Model | None = None

    @classmethod
    def of(cls, given: Model | Roles | None) -> Roles:
        """Roles as they are; one model for all of them; or none."""
        return given if isinstance(given, Roles) else cls(given, given, given, given)

    @property
    def models(self) -> tuple[Model, ...]:
        """The models among them, each once by its name."""
        there = (self.folder, self.planner, self.router, self.reader)
        return tuple({model.name: model for model in there if model is not None}.values())

    @property
    def name(self) -> str:
        """Their names, each once; empty for the embedded deciders."""
        return " and ".join(model.name for model in self.models)

    @property
    def absent(self) -> tuple[Absent, ...]:
        """Those that cannot be had now."""
        return tuple(model for model in self.models if isinstance(model, Absent))


def helpers(named: str | None = None, *, must: bool = True) -> Roles:
    """The models of the four helping roles.

    Args:
        named: one model for all of them; None for those that are set, each for its role.
        must: off, a missing key leaves a model that says so when it is asked.

    Raises:
        InputError: no such model, or a script that cannot be read.
        ModelKeyMissing: one needs a key, and none is set.
    """
    if named is not None:
        return Roles.of(role_model("folder", named, must=must))
    made: dict[RoleSetting, Model | None] = {}

    def of(role: Role) -> Model | None:
        setting = role_setting(role)
        if setting not in made:
            made[setting] = role_model(setting.role, must=must)
        return made[setting]

    return Roles(of("folder"), of("planner"), of("router"), of("reader"))
