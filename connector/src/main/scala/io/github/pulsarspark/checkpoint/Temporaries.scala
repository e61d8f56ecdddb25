package io.github.pulsarspark.checkpoint

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import io.github.pulsarspark.checkpoint.log.{Content, FileNode}

/** Files of a store that nobody else sees, because they are drafts: their names begin with a dot. A draft that nobody
  * renames, as when its task ended before, is dropped after an hour.
  *
  * @param nanos
  *   a clock that nobody sets
  */
private[checkpoint] final class Temporaries(nanos: () => Long = () => System.nanoTime()) {
  import Temporaries._

  private val files = TrieMap.empty[Seq[String], Draft]

  def find(path: Seq[String]): Option[FileNode] = files.get(path).map(_.file)

  def bytes(path: Seq[String]): Option[Array[Byte]] = find(path).map(_.content).collect {
    case whole: Content => whole.bytes
  }

  def put(path: Seq[String], content: Array[Byte]): Unit = {
    val now = nanos()
    files.filterInPlace((_, draft) => now - draft.since < LongestDraft.toNanos)
    files.update(path, Draft(FileNode(new Content(content), System.currentTimeMillis()), now))
  }

  /** True if there was one. */
  def remove(path: Seq[String]): Boolean = files.remove(path).isDefined

  /** Removes all in a folder. */
  def removeBelow(path: Seq[String]): Unit = files.keys.filter(_.startsWith(path)).foreach(files.remove)

  /** Files directly in a folder, by their names. */
  def in(folder: Seq[String]): Seq[(String, FileNode)] =
    files.toSeq.collect { case (path, draft) if path.init == folder => path.last -> draft.file }
}

private object Temporaries {

  /** A draft is renamed as soon as it is written. */
  private val LongestDraft = 1.hour

  /** @param since
    *   nanoseconds when it was written
    */
  private final case class Draft(file: FileNode, since: Long)
}
