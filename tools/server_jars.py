"""Write the list of jars that make up a Pulsar server whose distribution is not in the registry. Needs Maven.

    python tools/server_jars.py 4.2.4 > python/pulsar_spark/tables/server-4.2.4.txt

Each line is a coordinate and the SHA-256 of its file, as `pulsar_spark.local.maven.fetch_all` takes them.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

# Pulsar's own parent settles the versions of what other poms leave open.
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.github.pulsar-spark</groupId><artifactId>server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencyManagement><dependencies>
    <dependency><groupId>org.apache.pulsar</groupId><artifactId>pulsar</artifactId><version>{version}</version>
      <type>pom</type><scope>import</scope></dependency>
    <dependency><groupId>org.apache.pulsar</groupId><artifactId>pulsar-bom</artifactId><version>{version}</version>
      <type>pom</type><scope>import</scope></dependency>
  </dependencies></dependencyManagement>
  <dependencies>
    <dependency><groupId>org.apache.pulsar</groupId><artifactId>pulsar-broker</artifactId><version>{version}</version></dependency>
    <dependency><groupId>org.apache.pulsar</groupId><artifactId>pulsar-functions-worker</artifactId>
      <version>{version}</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j2-impl</artifactId></dependency>
  </dependencies>
</project>
"""


def listed(version: str) -> list[str]:
    """Resolve the server with Maven; return the lines of its list."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pom.xml").write_text(_POM.format(version=version), encoding="utf-8")
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        command += ["-DoutputDirectory=lib", "-Dmdep.useRepositoryLayout=true"]
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
        return sorted(
            _line(jar.relative_to(folder / "lib"), jar.read_bytes()) for jar in (folder / "lib").rglob("*.jar")
        )


def _line(path: Path, content: bytes) -> str:
    *group, artifact, version, file = path.parts
    classifier = file.removeprefix(f"{artifact}-{version}").removesuffix(".jar").replace("-", ":", 1)
    return f"{'.'.join(group)}:{artifact}:{version}{classifier} {hashlib.sha256(content).hexdigest()}"


if __name__ == "__main__":
    print("\n".join(listed(sys.argv[1])))
