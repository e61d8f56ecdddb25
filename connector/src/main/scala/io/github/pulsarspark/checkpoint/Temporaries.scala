package io.github.pulsarspark.checkpoint

import scala.collection.concurrent.TrieMap

import io.github.pulsarspark.checkpoint.log.{Content, FileNode}

/** Files of a store that nobody else sees, because they are drafts: their names begin with a dot. */
private[checkpoint] final class Temporaries {
  private val files = TrieMap.empty[Seq[String], FileNode]

  def find(path: Seq[String]): Option[FileNode] = files.get(path)

  def put(path: Seq[String], content: Array[Byte]): Unit =
    files.update(path, FileNode(new Content(content), System.currentTimeMillis()))

  /** True if there was one. */
  def remove(path: Seq[String]): Boolean = files.remove(path).isDefined

  /** Removes all in a folder. */
  def removeBelow(path: Seq[String]): Unit = files.keys.filter(_.startsWith(path)).foreach(files.remove)

  /** Files directly in a folder, by their names. */
  def in(folder: Seq[String]): Seq[(String, FileNode)] =
    files.toSeq.collect { case (path, file) if path.init == folder => path.last -> file }
}
