"""What kind of failure an endpoint's error is, whatever form the server gives it. Knows no network."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memgauge.llm.remote_parameters import adaptable
from memgauge.llm.retries import Failure, FailureKind, retry_after_seconds

DETAIL_CHARACTERS = 300
PASSING = frozenset({408, 409, 425, 429})
QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"})
FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked"})
FILTER_WORDS = re.compile(r"content (management )?policy|moderation|flagged|safety system", re.IGNORECASE)
CONTEXT = frozenset({"context_length_exceeded", "exceed_context_size_error"})
CONTEXT_WORDS = re.compile(
    r"context (length|window|size)|maximum (context|prompt|input)|(prompt|input) is too long|too many (input )?tokens",
    re.IGNORECASE,
)
CUT_WORDS = re.compile(r"could not finish the message because", re.IGNORECASE)
KEY_WORDS = re.compile(
    r"\b(api|access|auth\w*)[ _-]?(key|token|credential)s?\b.{0,60}?(not valid|not found|not set|required"
    r"|invalid|incorrect|expired|missing|revoked|wrong)"
    r"|(invalid|incorrect|expired|missing|revoked|wrong|no valid) (api|access|auth\w*)[ _-]?(key|token|credential)",
    re.IGNORECASE,
)
MODEL_WORDS = re.compile(
    r"\bmodels?\b.{0,200}?(not found|not exist|not a valid|not available|no such|not loaded|unknown|not be loaded)"
    r"|(unknown|invalid|no such|unsupported|unexpected) model\b|pinned to",
    re.IGNORECASE | re.DOTALL,
)
REFUSAL_WORDS = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|only the default|extra inputs"
    r"|not implemented|deprecated|invalid parameter|invalid (json )?schema",
    re.IGNORECASE,
)
SCHEMA_WORDS = re.compile(r"\b(json.?schema|(invalid|provided|the) schema)\b", re.IGNORECASE)
STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
}


@dataclass(frozen=True, slots=True)
class Response:
    """What came over the wire: HTTP status, headers, body text."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class _Report:
    """The fields of an error body that servers share; status is the error's own where it names one."""

    status: int
    message: str
    codes: frozenset[str]
    parameter: str


def read_failure(response: Response, sent: Mapping[str, Any], now: datetime) -> Failure:
    """The failure that an error status, or a good status with an error body, stands for.

    `sent` is the request's body; only a parameter that was sent can be the refused one.
    """
    report = _read_report(response)
    parameter = _refused_parameter(report, sent)
    kind = _kind(report, parameter)
    location = response.headers.get("location", "").partition("?")[0]
    redirect = f" redirects to {location}" if location else ""
    detail = f"status {report.status}{redirect}: {report.message}"[:DETAIL_CHARACTERS]
    asked = retry_after_seconds(response.headers, now) if kind == "passing" else None
    return Failure(kind, detail, asked, parameter if kind == "parameter" else None)


def _kind(report: _Report, parameter: str | None) -> FailureKind:
    """Read top to bottom: what the error says of itself before what its status says."""
    status, message = report.status, report.message
    rules: tuple[tuple[bool, FailureKind], ...] = (
        (status == 402 or bool(report.codes & QUOTA), "quota"),
        (bool(report.codes & FILTERED) or (status in (400, 403) and bool(FILTER_WORDS.search(message))), "filtered"),
        (bool(report.codes & CONTEXT), "context"),
        (status in (400, 413, 422, 500) and bool(CONTEXT_WORDS.search(message)), "context"),
        (status in PASSING or status >= 500, "passing"),
        (status in (401, 403) or (status == 400 and bool(KEY_WORDS.search(message))), "key"),
        (status == 400 and bool(CUT_WORDS.search(message)), "cut"),
        (parameter is not None, "parameter"),
        ("model_not_found" in report.codes, "model"),
        (status in (400, 404, 422) and bool(MODEL_WORDS.search(message)), "model"),
        (300 <= status < 400 or status in (404, 405, 410), "address"),
    )
    return next((kind for holds, kind in rules if holds), "refused")


def _refused_parameter(report: _Report, sent: Mapping[str, Any]) -> str | None:
    """The parameter that a 400 or 422 refuses as such; a value out of range (too many tokens) is no refusal."""
    if report.status not in (400, 422) or not REFUSAL_WORDS.search(f"{report.message} {' '.join(report.codes)}"):
        return None
    candidates = adaptable(sent)
    if report.parameter in candidates:
        return report.parameter
    named = [(place.start(), name) for name in candidates if (place := re.search(rf"\b{name}\b", report.message))]
    if not named and "response_format" in candidates and SCHEMA_WORDS.search(report.message):
        return "response_format"  # servers speak of the schema in it
    return min(named)[1] if named else None


def _read_report(response: Response) -> _Report:
    """The error in any of the usual bodies: an object or a text under `error`, `detail` of a framework, a web page."""
    try:
        body = json.loads(response.text)
    except ValueError:
        return _Report(response.status, _plain(response.text), frozenset(), "")
    if isinstance(body, list) and body:
        body = body[0]
    error = (body.get("error") or body.get("detail") or body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return _Report(_status(response.status, ()), _plain(_text(error)), frozenset(), "")
    names = [str(error[field]) for field in ("code", "type") if error.get(field) is not None]
    return _Report(
        status=_status(response.status, names),
        message=_plain(_text(error.get("message") or error)),
        codes=frozenset(name.lower() for name in names),
        parameter=str(error.get("param") or "").partition(".")[0],
    )


def _status(status: int, names: list[str] | tuple[()]) -> int:
    """The HTTP status; for an error sent with a good status the one its code or type stands for, else 500."""
    if status >= 300:
        return status
    codes = [int(name) for name in names if name.isdecimal() and 300 <= int(name) < 600]
    return next(iter([*codes, *(STATUS_OF_TYPE[name] for name in names if name in STATUS_OF_TYPE)]), 500)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> str:
    """Markup and line breaks taken out, so that a web page fits in one line."""
    return " ".join(re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE).split())
