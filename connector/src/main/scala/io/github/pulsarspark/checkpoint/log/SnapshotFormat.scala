package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import scala.util.Try

/** The state of a store as bytes, and in parts that each fit into a record. */
private[checkpoint] object SnapshotFormat {

  private val (file, folder) = (0, 1)

  /** The records of a snapshot after its beginning.
    *
    * @param most
    *   size limit of a part
    */
  def changes(id: UUID, state: LogState, most: Int): Seq[Change] = {
    val whole = bytes(state)
    val parts = whole.grouped(most).map(new Content(_)).toSeq
    parts.zipWithIndex.map { case (part, index) => Change.SnapshotPart(id, index, part) } :+
      Change.SnapshotEnd(id, parts.size, Apart.checksum(whole))
  }

  def bytes(state: LogState): Array[Byte] = {
    val out = new FieldWriter
    out.uuid(state.store)
    size(out, state.written)
    size(out, state.covered)
    out.place(state.floor)
    out.place(state.newest)
    out.several(state.begun.toSeq) { case (id, at) =>
      out.uuid(id)
      size(out, at)
    }
    out.several(state.writers.toSeq) { case (id, writer) =>
      out.uuid(id)
      out.long(writer.last)
      out.long(writer.seen)
    }
    node(out, state.tree.root)
    out.result
  }

  /** The state; None for bytes that are none. */
  def parse(bytes: Array[Byte]): Option[LogState] = Try {
    val in                  = new FieldReader(bytes)
    val (store, at, covers) = (in.uuid(), size(in), size(in))
    val (floor, newest)     = (in.place(), in.place())
    val begun               = in.several(in.uuid() -> size(in)).toMap
    val writers             = in.several(in.uuid() -> WriterState(in.long(), in.long())).toMap
    node(in, 0) match {
      case root: FolderNode => Some(LogState(store, Tree(root), writers, at, begun, covers, floor, newest))
      case _: FileNode      => None
    }
  }.toOption.flatten

  private def size(out: FieldWriter, size: LogSize): Unit = {
    out.long(size.records)
    out.long(size.bytes)
    out.long(size.apart)
  }

  private def size(in: FieldReader) = LogSize(in.long(), in.long(), in.long())

  private def node(out: FieldWriter, one: Node): Unit = one match {
    case FileNode(content, time) =>
      out.byte(file)
      out.long(time)
      out.file(content)
    case FolderNode(children, time, _, _, _) =>
      out.byte(folder)
      out.long(time)
      out.several(children.toSeq.sortBy(_._1)) { case (name, child) =>
        out.text(name)
        node(out, child)
      }
  }

  private def node(in: FieldReader, level: Int): Node = {
    if (level > Tree.MaxLevels) throw new IllegalArgumentException(s"more than ${Tree.MaxLevels} folders in each other")
    val kind = in.byte()
    val time = in.long()
    if (kind == file) FileNode(in.file(), time)
    else in.several(in.text() -> node(in, level + 1)).foldLeft(FolderNode.empty(time)) { case (all, (name, child)) =>
      all + (name, child)
    }
  }
}
