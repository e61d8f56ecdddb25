package io.github.pulsarspark.checkpoint

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import io.github.pulsarspark.checkpoint.log.Tree
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.topics.CheckpointTopicNames

/** Place that a path of `pulsar-fs://tenant/namespace/store/folder/file` names. */
private[checkpoint] sealed trait StorePath

private[checkpoint] object StorePath {

  /** A tenant or a namespace, a folder that is always there. Nobody lists the stores in it. */
  case object Above extends StorePath

  /** A file or a folder of a store.
    *
    * @param names
    *   from the root of the store, which has none
    */
  final case class Within(topic: String, names: Seq[String]) extends StorePath {

    /** True for a file that stays in this JVM until it is renamed. */
    def isTemporary: Boolean = names.lastOption.exists(_.startsWith("."))
  }

  private val PartitionLike = ".*-partition-\\d+"

  /** @param tenant
    *   that of the file system, for a path without one
    */
  def apply(path: Path, tenant: String): StorePath = {
    val uri   = path.toUri
    val parts = uri.getPath.split('/').filter(_.nonEmpty).toSeq
    if (parts.size < 2) Above
    else {
      val store = parts(1)
      if (store.matches(PartitionLike)) throw refused(path, s"$store looks like a partition of a topic")
      if (parts.size - 2 > Tree.MaxLevels)
        throw refused(path, s"it has more than ${Tree.MaxLevels} folders in each other")
      if (store.endsWith(CheckpointTopicNames.ContentSuffix))
        throw refused(path, s"the topic of $store would have the contents of another store")
      try Within(CheckpointTopicNames.of(Option(uri.getAuthority).getOrElse(tenant), parts.head, store), parts.drop(2))
      catch { case NonFatal(e) => throw refused(path, e.getMessage) }
    }
  }

  /** The path, if it is in a store. */
  def within(path: Path, tenant: String): Within = apply(path, tenant) match {
    case found: Within => found
    case Above         => throw refused(path, "it names no store")
  }

  def refused(path: Path, why: String): Exception =
    Conditions.CheckpointStorePath(path = path.toString, why = why).exception
}
