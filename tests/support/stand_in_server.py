"""What `afterthought dev` runs in its tests instead of `langgraph dev`: `stand_in_server.py BEHAVIOUR ... --port N`.

Behaviours: `serve` answers `/ok`, and `/variables` with its environment; `die` ends with code 3 at once;
`silent` never answers; `stubborn` serves, ignores every signal that can be ignored, and starts a child that does too.
"""

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEATH = 3
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(dict(os.environ) if self.path == "/variables" else {"ok": True, "pid": os.getpid()}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def main(behaviour: str, port: int) -> None:
    if behaviour == "die":
        sys.exit(DEATH)
    if behaviour == "silent":
        signal.pause()
    if behaviour == "stubborn":
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(60)
            return
    try:
        ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[-1]))
