"""A client of the wire format that shares no code with reyn: asks the URL it is given, prints what came of it."""
import json
import sys
import urllib.error
import urllib.request

url, token = sys.argv[1], sys.argv[2]


def send(body, headers=None, path=""):
    request = urllib.request.Request(url + path, data=body, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, None


def call(method, params, number=7):
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(body).encode()


bearer = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
print(json.dumps({
    "health": send(None, path="health"),
    "asked": send(call("session_spawn", {"work_item": "github:o/r#3", "prompt": "p\u00e9"}), bearer),
    "passed": send(call("phase_changed", {}), bearer),
    "unknown": send(call("toString", {}), bearer),
    "broken": send(b"{", bearer),
    "no_token": send(call("session_spawn", {})),
    "wrong_token": send(call("session_spawn", {}), {"Authorization": "Bearer no"}),
    "too_large": send(b"x" * 3000, bearer),
}))
