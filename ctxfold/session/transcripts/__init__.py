"""Reading what a host wrote of its own conversation, and recording in a session what of it is new."""

from ctxfold.session.transcripts.hosts import HOSTS, TranscriptHost, find_latest, name_conversation
from ctxfold.session.transcripts.known_keys import without_keys
from ctxfold.session.transcripts.read import Transcript
from ctxfold.session.transcripts.values import AssistantSaid, Called, Entry, HostCompacted, ToolAnswered, UserSaid

__all__ = [
    "HOSTS",
    "AssistantSaid",
    "Called",
    "Entry",
    "HostCompacted",
    "ToolAnswered",
    "Transcript",
    "TranscriptHost",
    "UserSaid",
    "find_latest",
    "name_conversation",
    "without_keys",
]
