package io.github.pulsarspark.checkpoint

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.checkpoint.log.{Content, FileNode}

/** Files of a store that nobody else sees, because they are drafts: their names begin with a dot. A draft that nobody
  * renames, as when its task ended before, is dropped after an hour.
  *
  * @param millis
  *   the clock
  */
private[checkpoint] final class Temporaries(millis: () => Long = () => System.currentTimeMillis()) {
  import Temporaries._

  private val files = TrieMap.empty[Seq[String], FileNode]

  def find(path: Seq[String]): Option[FileNode] = files.get(path)

  def bytes(path: Seq[String]): Option[Array[Byte]] = files.get(path).map(_.content).collect {
    case whole: Content => whole.bytes
  }

  def put(path: Seq[String], content: Array[Byte]): Unit = {
    val now = millis()
    files.filterInPlace((_, draft) => now - draft.time < LongestDraft.toMillis)
    files.update(path, FileNode(new Content(content), now))
  }

  /** True if there was one. */
  def remove(path: Seq[String]): Boolean = files.remove(path).isDefined

  /** Removes all in a folder. */
  def removeBelow(path: Seq[String]): Unit = files.keys.filter(_.startsWith(path)).foreach(files.remove)

  /** Files directly in a folder, by their names. */
  def in(folder: Seq[String]): Seq[(String, FileNode)] =
    files.toSeq.collect { case (path, file) if path.init == folder => path.last -> file }
}

private object Temporaries {

  /** A draft is renamed as soon as it is written. */
  private val LongestDraft = 1.hour
}
