"""A client of agent-server in one file, standard library only: it prompts, streams, reviews hunk by hunk and cancels.

    python client.py FOLDER "Say hello instead of hi"          Ctrl-C cancels the turn
    python client.py --resume FOLDER "And now add a test"      goes on with the last conversation
    python client.py --server "agent-server lsp --model m" …   another way to start the server

What it does is explained in ../README.md. Copy it, and throw away what you do not need.
"""
# ruff: noqa: D102, D103, T201  (an example shows its code, and a terminal is where it prints)

import argparse
import json
import queue
import shlex
import sys
import threading
from pathlib import Path
from subprocess import PIPE, Popen

CAPABILITIES = {"version": 1, "sessionUpdate": True, "permission": True, "edit": {"proposed": True}}


class Server:
    """The process, and JSON-RPC on its pipes."""

    def __init__(self, command):
        # A session of its own: Ctrl-C is for us, and we cancel the turn properly.
        self.process = Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        self.messages = queue.Queue()
        self.last_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while header := self.process.stdout.readline():
            length = int(header.split(b":")[1])
            self.process.stdout.readline()
            self.messages.put(json.loads(self.process.stdout.read(length)))
        self.messages.put(None)

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        return self.last_id


class Client:
    """One person in front of one session."""

    def __init__(self, server):
        self.server = server
        self.session = None

    def call(self, method, params):
        """A request's result. Whatever comes before it is handled; that is how a turn is seen."""
        wanted = self.server.ask(method, params)
        while True:
            try:
                message = self.server.messages.get()
                if message is None:
                    sys.exit("the server has gone")
                if "method" not in message and message["id"] == wanted:
                    if "error" in message:
                        sys.exit(f"{method}: {message['error']['message']}")
                    return message["result"]
                self.handle(message)
            except KeyboardInterrupt:
                # The answer comes all the same: stopReason "cancelled".
                self.server.send(method="agent/session/cancel", params={"sessionId": self.session})

    def handle(self, message):
        params = message.get("params")
        match message.get("method"):
            case "agent/session/update":
                self.show(params["update"])
            case "agent/edit/proposed" if params["review"] == "ask":
                self.review(params)
            case "agent/session/request_permission":
                option = self.choose(params["toolCall"].get("title", "?"), params["options"])
                outcome = {"outcome": "selected", "optionId": option}
                self.server.send(id=message["id"], result={"outcome": outcome})
            case str(method) if "id" in message:
                refusal = {"code": -32601, "message": f"no {method}"}
                self.server.send(id=message["id"], error=refusal)

    def show(self, update):
        if update["sessionUpdate"] == "agent_message_chunk":
            print(update["content"].get("text", ""), end="", flush=True)
        elif update["sessionUpdate"] == "tool_call":
            print(f"\n[{update['title']}]")

    def review(self, proposed):
        """Every hunk is decided alone. The answer to the last decision lets the turn go on."""
        decisions = []
        for file in proposed["files"]:
            named = {"uri": file["uri"]}
            for hunk in file["hunks"] or [None]:
                print(f"\n{file['uri']}")
                if hunk is not None:
                    named["hunk"] = hunk["id"]
                    for sign, text in (("-", hunk["oldText"]), ("+", hunk["newText"])):
                        print("".join(f"{sign} {line}\n" for line in text.splitlines()), end="")
                yes = input(f"{file['kind']}? [y/n] ").strip() == "y"
                verdict = "accept" if yes else "reject"
                decisions.append({**named, "verdict": verdict})
        params = {"txn": proposed["txn"], "revision": proposed["revision"], "decisions": decisions}
        self.server.ask("agent/edit/resolve", params)  # its answer says nothing that we need

    def choose(self, title, options):
        print(f"\n{title}")
        for number, option in enumerate(options, 1):
            print(f"  {number}. {option['name']}")
        answer = input("> ").strip()
        chosen = int(answer) - 1 if answer.isdigit() and 0 < int(answer) <= len(options) else -1
        return options[chosen]["optionId"]  # the last one is always no


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default="agent-server lsp")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("folder", type=lambda path: Path(path).resolve())
    parser.add_argument("prompt")
    given = parser.parse_args()
    client = Client(server := Server(shlex.split(given.server)))
    place = {"uri": given.folder.as_uri(), "mcpServers": []}
    capabilities = {"experimental": {"agent": CAPABILITIES}}
    client.call("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
    server.send(method="initialized", params={})
    if given.resume:
        listed = client.call("agent/session/list", {"cwd": str(given.folder)})
        client.session = listed["sessions"][0]["sessionId"]
        client.call("agent/session/load", {"sessionId": client.session, **place})
    else:
        client.session = client.call("agent/session/new", place)["sessionId"]
    said = {"sessionId": client.session, "prompt": [{"type": "text", "text": given.prompt}]}
    result = client.call("agent/session/prompt", said)
    print(f"\n({result['stopReason']})")
    client.call("shutdown", None)
    server.send(method="exit")
    server.process.wait()


if __name__ == "__main__":
    main()
