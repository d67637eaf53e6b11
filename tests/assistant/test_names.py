"""Whether a message names somebody (002-6). Names are words of the spelling alphabet."""

from __future__ import annotations

import pytest

from turnwise.assistant.names import proper_name
from turnwise.assistant.profile import built_in

NAMED = {
    "What should I do about Charlie?": "Charlie",
    "I have a problem with Oscar.": "Oscar",
    "Can Victor take leave in July?": "Victor",
    "How do I tell Juliett that her shift has changed?": "Juliett",
    "Is Romeo's absence excused?": "Romeo",
    "Yesterday Dr. Lima called me.": "Lima",
    "Mr. Quebec wants to swap shifts.": "Quebec",
    "I asked Mike-Oscar to stay.": "Mike-Oscar",
    "What would O'Sierra do?": "O'Sierra",
    "On Monday Charlie was late again.": "Charlie",
    "He is late. I told Oscar so.": "Oscar",
    "This morning, Victor left early.": "Victor",
    "Does the Attendance Policy cover Juliett?": "Juliett",
    "Should HR talk to Romeo or to me?": "Romeo",
    "I'm worried about Tango.": "Tango",
    "Could Charlie and Oscar swap?": "Charlie",
    "Someone (Victor) was rude.": None,  # after a bracket a capital letter may mean nothing
    "Is it true that Zoë is ill?": "Zoë",
    "A trainer called Élan left.": "Élan",
    "we told Mike to go home": "Mike",
    "The manager, Oscar, agreed.": "Oscar",
    "What about Charlie’s overtime?": "Charlie",
    "Ms Foxtrot was told twice.": "Foxtrot",
    "Is there a form for Golf?": "Golf",
    "how long can India be away": "India",
}
UNNAMED = [
    "What is the policy on overtime?",
    "How do I handle a no call no show?",
    "Is the No Call No Show policy strict?",
    "Does FMLA apply here?",
    "Should I contact HR on Monday?",
    "Can people take leave in December?",
    "Charlie was late.",  # at the beginning of a sentence every word has a capital letter
    "Late again. Charlie was late.",
    "what happens when somebody is late?",
    "I think I'm right, and I've said so.",
    "WHAT DO I DO NOW?",
    "What Is The Policy On Overtime Pay?",
    "Does the Family and Medical Leave Act apply?",
    "Where is the Employee Handbook?",
    "Do we close on Thanksgiving?",
    "Is Spanish spoken at work a problem?",
    "Who is the General Manager on duty?",
    "Somebody said: Please go home.",
    'She wrote "Please come" on a note.',
    "Can staff use Zoom and Excel?",
    "- Late\n- Rude\n- Loud",
    "Is Human Resources open on Fridays?",
    "",
    "???",
    "従業員が遅刻しました",
]


def test_there_are_fifty_sentences() -> None:
    assert len(NAMED) + len(UNNAMED) == 50


@pytest.mark.parametrize(("text", "name"), NAMED.items())
def test_a_name_is_found(text: str, name: str | None) -> None:
    assert proper_name(text, built_in("hr")) == name


@pytest.mark.parametrize("text", UNNAMED)
def test_no_name_is_found(text: str) -> None:
    assert proper_name(text, built_in("hr")) is None


def test_the_definition_is_the_same_under_spec() -> None:
    """The document has none of its own."""
    assert proper_name("Is the No Call No Show policy strict?", built_in("spec")) is None
    assert proper_name("What should I do about Charlie?", built_in("spec")) == "Charlie"


def test_long_messages_take_no_longer_than_they_must() -> None:
    """Capital letters after quotation marks, 200,000 of them: nothing is searched from the beginning each time."""
    assert proper_name('say "Xylo" ' * 20_000, built_in("hr")) is None
