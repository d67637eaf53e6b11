"""The caller's voice: a frame of every participant at every moment, and what a caller's side reports as heard."""

from __future__ import annotations

from dataclasses import dataclass

from turnwise.live.call import Call
from turnwise.live.voices import END, HANGUP
from turnwise.live.wire import OUT


@dataclass
class Speaker:
    """Plays the turns of a scenario."""

    call: Call
    tail_ms: float
    """How long is listened after the last turn."""

    def frame(self, due: float) -> bool:
        """Send what is due at a moment; False when the tail of the scenario is over."""
        call = self.call
        voices = call.voices
        now = call.clock.frame(due)
        if voices.hung_up or (voices.done and now >= voices.last_end + self.tail_ms):
            return False
        call.answers.settle(now, call.capture.playouts)
        for turn in voices.begin(now):
            call.capture.turn_started(turn.id, now)
            call.note(now, {"turn_started": turn.id})
            call.answers.asked(turn, now)
            if turn.type == HANGUP:
                call.turn_over(turn.id, now)
        for participant in call.out_files:
            pcm, speaking = voices.frame(participant, now)
            begin = self._send(participant, pcm, now, silent=speaking is None)
            if speaking is not None and begin is not None:
                first, length = call.places.get(speaking.id, (begin, 0))
                call.places[speaking.id] = first, length + len(pcm)
        for turn in voices.just_ended():
            call.turn_over(turn.id, voices.moments[turn.id, END])
        if call.marks:
            self._tell_heard(now)
        return True

    def _send(self, participant: str, pcm: bytes, now: float, *, silent: bool) -> int | None:
        """One frame; where its audio lies, or none if the connection is closing."""
        call = self.call
        name = participant if participant in call.connections else None
        transport = call.capture.transports[name]
        before, audio, after = transport.frame_parts(participant, pcm, now, silent)
        if not call.connections[name].send(f"{before}{audio}{after}"):
            return None
        file = call.out_files[participant]
        begin = call.sounds.put(file, pcm, transport.out_rate)
        place = f'{{"$audio":{{"file":"audio/{file}","begin":{begin},"bytes":{len(pcm)}}}}}'
        call.log.write_text(OUT, now, name, f"{before[:-1]}{place}{after[1:]}")
        return begin

    def _tell_heard(self, now: float) -> None:
        """Send back the marks whose audio has been heard."""
        call = self.call
        due = [entry for entry in call.marks if entry[0] <= now]
        call.marks = [entry for entry in call.marks if entry[0] > now]
        for _, name, mark in due:
            call.say(name, call.capture.transports[name].heard(name, mark))
