package io.github.pulsarspark.policy

import java.net.URI
import java.nio.file.{Path => LocalPath}

import scala.util.Try

import org.apache.hadoop.fs.Path

/** A folder or a bucket, with all that is in it.
  *
  * @param scheme
  *   in lower case
  * @param authority
  *   the bucket or host; empty without one
  * @param path
  *   absolute; of the local file system with all links followed
  */
private[policy] final case class StoragePrefix private (scheme: String, authority: String, path: String) {

  def covers(place: URI): Boolean = StoragePrefix.of(place).exists { other =>
    other.scheme == scheme && other.authority == authority &&
    (other.path == path || other.path.startsWith(path.stripSuffix("/") + "/"))
  }
}

private[policy] object StoragePrefix {

  def parse(text: String): Option[StoragePrefix] = Try(new Path(text).toUri).toOption.flatMap(of)

  private def of(uri: URI): Option[StoragePrefix] =
    for {
      scheme <- Option(uri.getScheme).map(_.toLowerCase)
      path   <- Option(uri.getPath).map(p => if (p.isEmpty) "/" else p)
      if path.startsWith("/") && !path.split('/').contains("..")
      place <- if (scheme == "file") Try(RealPath(LocalPath.of(path)).toString).toOption else Some(path)
    } yield StoragePrefix(scheme, Option(uri.getAuthority).getOrElse(""), place)
}
