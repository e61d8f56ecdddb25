package io.github.pulsarspark.policy

import java.nio.file.Path

import scala.util.Try

/** The place of a file with all links followed. Of a file that does not exist, that of the folder that does, with the
  * rest of the path, which goes up from there where it has `..`.
  */
private[policy] object RealPath {
  def apply(file: Path): Path = {
    val whole = file.toAbsolutePath
    Try(whole.toRealPath()).getOrElse(
      Option(whole.getParent).fold(whole)(RealPath(_).resolve(whole.getFileName).normalize)
    )
  }
}
