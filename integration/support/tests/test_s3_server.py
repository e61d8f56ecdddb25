"""The S3 server of the tests."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

from support.servers.s3_server import running_s3

if TYPE_CHECKING:
    from pathlib import Path


def test_a_signature_may_have_any_number_of_slashes(tmp_path: Path) -> None:
    with running_s3(tmp_path) as server:
        server.bucket("bucket")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for slashes in range(6):
            headers = {"Authorization": f"AWS test-user:{'x/' * slashes}x="}
            request = urllib.request.Request(
                f"{server.endpoint}/bucket/key-{slashes}", data=b"content", headers=headers, method="PUT"
            )
            with opener.open(request, timeout=180) as answer:
                assert answer.status == 200
