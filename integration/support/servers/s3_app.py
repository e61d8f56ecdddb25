"""The program of `s3_server`: moto's server for S3. Its arguments are the host and the port.

moto takes a signature of version 2 for one of version 4 when it has four slashes by chance, as one of about two
thousand has, and then answers 500. It verifies no signature of version 2, so the slashes are replaced.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple


class Application(DomainDispatcherApplication):
    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:  # noqa: ANN401 - as WSGI has it
        authorization = environ.get("HTTP_AUTHORIZATION", "")
        if authorization.startswith("AWS "):
            environ["HTTP_AUTHORIZATION"] = authorization.replace("/", "_")
        return super().__call__(environ, start_response)


if __name__ == "__main__":
    host, port = sys.argv[1], int(sys.argv[2])
    os.environ.setdefault("MOTO_PORT", str(port))
    run_simple(host, port, Application(create_backend_app), threaded=True)
