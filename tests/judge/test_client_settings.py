"""What a judge is told about itself: addresses, config files, keys, certificates."""

from __future__ import annotations

import logging
import pickle
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.judge.asked import GOOD, always_good, ask_about, outcome, settings_for
from tests.judge.server import Reply, Request, Server, completion, error
from turnwise.judge import client
from turnwise.judge.address import endpoint
from turnwise.judge.ask import Judge
from turnwise.judge.lines import proxy_for
from turnwise.judge.records import Failure, Verdict
from turnwise.judge.settings import JudgeSettings, judge_settings
from turnwise.kernel.errors import UsageError

KEY = "sk-0123456789abcdefghijklmnop"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1/chat/completions"),
        ("HTTPS://API.example/v1/", "https://api.example/v1/chat/completions"),
        ("https://h/openai/v1/chat/completions/", "https://h/openai/v1/chat/completions"),
        ("https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
        ("https://h/d/x?api-version=2026-01-01", "https://h/d/x/chat/completions?api-version=2026-01-01"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_addresses(typed: str, meant: str) -> None:
    assert endpoint(typed) == meant


@pytest.mark.parametrize("typed", ["", "localhost:8000", "ftp://h/v1", "http://", "http://h:99999/v1", "h ttp://h"])
def test_no_addresses(typed: str) -> None:
    with pytest.raises(UsageError, match="no address of a judge") as raised:
        endpoint(typed)
    assert raised.value.expected


@pytest.mark.parametrize("typed", ["https://me:pass@h/v1", "https://h/v1?api_key=abc", f"https://h/v1?x={KEY}"])
def test_addresses_with_keys(typed: str) -> None:
    with pytest.raises(UsageError) as raised:
        JudgeSettings(url=typed, model="m")
    assert "export TURNWISE_JUDGE_API_KEY" in str(raised.value)
    assert not any(secret in str(raised.value) for secret in ("pass@", "abc", KEY))


# Config files

CONFIG = """
judge: {model: big, url: "https://host/v1"}
system: {model: ours, url: "https://host/v1"}
models:
  big: {timeout_s: 120, price_in: 2.5, price_out: 10, json_schema: off, body: {reasoning_effort: low}}
  small: {url: "http://localhost:9/v1", retries: 0, api_key_env: SMALL_KEY}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "judge.yaml"
    path.write_text(text)
    return path


def test_a_config_file(tmp_path: Path) -> None:
    found = judge_settings(config=written(tmp_path, CONFIG))
    assert (found.model, found.url, found.timeout_s, found.price_in) == ("big", "https://host/v1", 120, 2.5)
    assert (found.json_schema, found.body, found.retries) == ("off", {"reasoning_effort": "low"}, 5)
    # 1,000 tokens in at 2.5 per million and 500 out at 10 per million: 0.0025 + 0.005
    assert found.cost(1000, 500) == pytest.approx(0.0075)


def test_options_go_before_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, CONFIG)
    other = judge_settings(config=path, model="small")
    assert (other.url, other.retries, other.api_key_env) == ("http://localhost:9/v1", 0, "SMALL_KEY")
    assert judge_settings(config=path, url="http://here").url == "http://here"
    assert judge_settings(config=path, model="unheard of").url == "https://host/v1"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("judge: {modle: big}", "did you mean model?"),
        ("jugde: {model: big}", "did you mean judge?"),
        ("models: {big: {timeout: 3}}\njudge: {model: big}", "did you mean timeout_s"),
        ("judge: {model: big}\nallow_self_judging: true", "allow_self_judging belongs under judge:"),
        ("judge: {model: big, retries: 3}", "retries belongs under models"),
        ("judge: {model: big}\nmodels: {big: {timeout_s: -1}}", "models.big.timeout_s"),
        ("judge: {model: big}\nmodels: {big: {start_concurrency: 9}}", "less than or equal to 4"),
        ("judge: {model: big}\nmodels: {big: {json_schema: maybe}}", "models.big.json_schema"),
        ("judge: {model: big}\nmodels: {big: {body: {messages: []}}}", "messages is not one for the body"),
        ("judge: [big]", "judge is no section"),
        ("models: [big]", "models is no section"),
        ("judge: {model: big, url: 'host:80'}", "no address"),
        ("judge: {model: [}", "line 1"),
        ("- 1", "no sections"),
        ("judge: {url: 'http://h'}", "has no model"),
    ],
)
def test_mistakes_in_a_config_file(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UsageError) as raised:
        judge_settings(config=written(tmp_path, text))
    assert what in str(raised.value)
    assert "judge.yaml" in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        f"judge: {{model: big, api_key: {KEY}}}",
        "judge: {model: big, api_key: short}",
        f"judge: {{model: big}}\nmodels: {{big: {{headers: {{Authorization: Bearer {KEY}}}}}}}",
        f"judge: {{model: big}}\nmodels: {{big: {{headers: {{X-Other: {KEY}}}}}}}",
        "judge: {model: big}\nmodels: {big: {headers: {api-key: abc}}}",
        "judge: {model: big}\nmodels: {big: {body: {api_key: abc}}}",
        f"judge: {{model: big, api_key_env: {KEY}}}",
        "judge: {model: big, url: 'https://h/v1?key=abc'}",
    ],
)
def test_keys_in_a_config_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        judge_settings(config=written(tmp_path, text))
    assert KEY not in str(raised.value)
    assert "abc" not in str(raised.value)


@pytest.mark.parametrize(
    ("system", "refused"),
    [
        ("{model: big, url: 'https://host/v1'}", True),
        ("{model: big, url: 'https://HOST/v1/chat/completions'}", True),
        ("{model: big}", True),
        ("{model: big, url: 'https://elsewhere/v1'}", False),
        ("{model: other, url: 'https://host/v1'}", False),
    ],
)
def test_nobody_judges_themselves_unasked(tmp_path: Path, system: str, refused: bool) -> None:
    text = f"judge: {{model: big, url: 'https://host/v1'}}\nsystem: {system}"
    path = written(tmp_path, text)
    if refused:
        with pytest.raises(UsageError, match="the judge is the system under test"):
            judge_settings(config=path)
        path = written(tmp_path, text.replace("model: big,", "model: big, allow_self_judging: true,", 1))
    assert judge_settings(config=path).model == "big"


def test_a_model_may_be_called_like_a_key(tmp_path: Path) -> None:
    text = "judge: {model: hf-llama-3-70b-instruct-turbo, url: 'http://h'}"
    assert judge_settings(config=written(tmp_path, text)).model == "hf-llama-3-70b-instruct-turbo"


def test_no_model_and_no_address() -> None:
    with pytest.raises(UsageError, match="no model"):
        judge_settings(url="http://h")
    with pytest.raises(UsageError, match="not known where the judge is"):
        judge_settings(model="m")


# Keys


def test_where_the_key_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_JUDGE_API_KEY", KEY)
    monkeypatch.setenv("OTHER", "another-key")
    with Server(always_good) as server:
        outcome(server)
        outcome(server, api_key_env="OTHER", api_key_header="api-key")
    first, second = server.requests
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert second.headers["api-key"] == "another-key"
    assert "authorization" not in second.headers


def test_the_key_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A server that repeats the key in everything it says, in answers and errors alike."""
    monkeypatch.setattr(client, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setenv("TURNWISE_JUDGE_API_KEY", KEY)

    def answering(request: Request) -> Reply:
        if "table for 0" in request.prompt:
            return completion(GOOD.replace("table", KEY), model=KEY)
        if "table for 1" in request.prompt:
            return error(400, f"Bad: {request.headers['authorization']}")
        if "table for 2" in request.prompt:
            return Reply(500, f"Header was {KEY}".encode())
        if "table for 3" in request.prompt:
            return completion(f"unreadable {KEY}")
        return error(401, f"Incorrect API key provided: {KEY}")

    with caplog.at_level(logging.DEBUG), Server(answering) as server:
        settings = settings_for(server, retries=0)
        judge = Judge(settings, cassette=tmp_path)
        judge.ask(ask_about(4))
        with pytest.raises(UsageError) as raised:
            judge.ask(ask_about(5)[4:])
    seen = [repr(judge.judgement(question)) for question in ask_about(5)]
    seen += [str(raised.value), repr(raised.value), repr(settings), settings.model_dump_json(), repr(judge.tally)]
    seen += [caplog.text, *capfd.readouterr(), str(pickle.dumps(settings))]
    seen += [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert sum(isinstance(judge.judgement(q).answers[0], Verdict | Failure) for q in ask_about(5)) == 5
    assert not [text for text in seen if KEY in text]
    assert any("***" in text for text in seen)


def test_a_key_that_no_header_can_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_JUDGE_API_KEY", "abc\ndef-secret")
    with Server(always_good) as server, pytest.raises(UsageError, match="characters that no key has") as raised:
        outcome(server)
    assert "secret" not in str(raised.value)
    assert not server.requests


def test_the_key_does_not_follow_a_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_JUDGE_API_KEY", KEY)
    with Server(always_good) as other:
        away = Reply(308, b"", {"location": f"{other.url}/chat/completions"})
        with Server(lambda _: away) as server, pytest.raises(UsageError, match="leads elsewhere"):
            outcome(server)
    assert not other.requests


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


def test_an_authority_of_ones_own(
    authority: trustme.CA, tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with Server(always_good, tls) as server:
        assert isinstance(outcome(server), Verdict)


@pytest.mark.parametrize("known", ["nobody", "the wrong ones"])
def test_a_certificate_that_nobody_vouches_for(
    tls: ssl.SSLContext, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if known == "the wrong ones":
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "other.pem"))
    with Server(always_good, tls) as server, pytest.raises(UsageError, match="certificate is not trusted") as raised:
        outcome(server)
    assert "SSL_CERT_FILE" in str(raised.value)
    assert not server.requests


def test_a_file_of_authorities_that_is_none(
    tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    for name in ("ca.pem", "not-there.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
        with Server(always_good, tls) as server, pytest.raises(UsageError, match="SSL_CERT_FILE"):
            outcome(server)


def test_settings_are_checked() -> None:
    wrong: list[dict[str, Any]] = [{"timeout_s": 0}, {"retries": -1}, {"temperature": 3}, {"unknown": 1}, {"model": ""}]
    for changes in wrong:
        with pytest.raises(ValueError):
            settings_for("http://h", **changes)


# Proxies


def test_proxies_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert proxy_for("https://host/v1") is None
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for("https://host/v1") == "http://proxy.example:3128"
    assert proxy_for("http://host/v1") is None
    assert proxy_for("https://inside.example/v1") is None
    assert proxy_for("https://127.0.0.1:8000/v1") is None


def test_a_server_on_this_machine_needs_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with Server(always_good) as server:
        assert isinstance(outcome(server), Verdict)


def test_a_request_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy is asked for the whole address; here it answers itself."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with Server(always_good) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        assert isinstance(outcome("http://judge.example:8000/v1"), Verdict)
    assert proxy.requests[0].path == "http://judge.example:8000/v1/chat/completions"
    assert proxy.requests[0].headers["host"] == "judge.example:8000"
