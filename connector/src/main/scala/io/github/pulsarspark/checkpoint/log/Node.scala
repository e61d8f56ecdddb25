package io.github.pulsarspark.checkpoint.log

/** A file or a folder of a checkpoint store.
  *
  * Its time is in milliseconds since 1970, by the clock of the JVM that wrote it.
  */
private[checkpoint] sealed trait Node {
  def time: Long

  /** Bytes of all files in it. */
  def bytes: Long

  /** Bytes of their contents that are in memory. */
  def held: Long

  /** Number of files and folders: itself and all in it. */
  def count: Long
}

private[checkpoint] final case class FileNode(content: FileContent, time: Long) extends Node {
  override def bytes: Long = content.size
  override def held: Long  = content.held
  override def count: Long = 1
}

/** A folder. Its sums go along with its changes, so that nothing is ever counted anew. */
private[checkpoint] final case class FolderNode(
    children: Map[String, Node],
    time: Long,
    bytes: Long,
    held: Long,
    count: Long
) extends Node {

  def +(name: String, node: Node): FolderNode = {
    val rest = this - name
    FolderNode(rest.children.updated(name, node), time, rest.bytes + node.bytes, rest.held + node.held,
      rest.count + node.count)
  }

  def -(name: String): FolderNode = children.get(name).fold(this)(old =>
    FolderNode(children - name, time, bytes - old.bytes, held - old.held, count - old.count)
  )
}

private[checkpoint] object FolderNode {
  def empty(time: Long): FolderNode = FolderNode(Map.empty, time, 0, 0, 1)
}
