"""What kagent-core makes of human-in-the-loop payloads: `python hitl.py < CASES`, one JSON object a line."""

from __future__ import annotations

import json
import sys

from a2a.types import a2a_pb2 as pb
from google.protobuf import json_format
from kagent.core.a2a import (
    HITL_EXTENSION_URI,
    HitlTool,
    ask_user_questions,
    attach_hitl_extension,
    get_ask_user_request,
    get_ask_user_response,
    get_tool_approval_request,
    get_tool_approval_response,
    hitl_activated,
    hitl_status_text,
    require_ask_user_response,
    require_tool_approval_response,
)

READERS = {
    "tool_approval_request": get_tool_approval_request,
    "ask_user_request": get_ask_user_request,
    "tool_approval_response": get_tool_approval_response,
    "ask_user_response": get_ask_user_response,
}


def carrying(payload) -> pb.Message:
    message = pb.Message(message_id="m", role=pb.ROLE_USER)
    if isinstance(payload, dict):
        attach_hitl_extension(message, payload)
    else:
        message.extensions.append(HITL_EXTENSION_URI)
        json_format.ParseDict({HITL_EXTENSION_URI: payload}, message.metadata)
    return message


def read(case):
    """Whether the payload is one, and what it says."""
    found = [reader(carrying(case["payload"])) for reader in READERS.values()]
    found = [payload for payload in found if payload is not None]
    return found[0].model_dump(mode="json", exclude_none=True) if found else None


def status_text(case):
    tools = [HitlTool.model_validate(tool) for tool in case["tools"]]
    return hitl_status_text(tools, case["hints"])


def answer(case):
    """The complaint about a response to a request; none where it is right."""
    request, response = case["request"], carrying(case["response"])
    try:
        if request["type"] == "tool_approval_request":
            asked = get_tool_approval_request(carrying(request))
            require_tool_approval_response(asked, get_tool_approval_response(response))
        else:
            asked = get_ask_user_request(carrying(request))
            require_ask_user_response(asked, get_ask_user_response(response))
    except ValueError as error:
        return str(error)
    return None


def activated(case):
    return hitl_activated({"a2a-extensions": case["header"]})


def questions(case):
    return ask_user_questions([HitlTool.model_validate(tool) for tool in case["tools"]])


KINDS = {"read": read, "text": status_text, "answer": answer, "activated": activated, "questions": questions}

for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(KINDS[case["kind"]](case)), flush=True)
