package io.github.pulsarspark.checkpoint.log

import scala.util.Try

/** Records as bytes. The first byte is the version of the format. */
private[checkpoint] object RecordFormat {
  import Change._

  private val Version = 1

  /** Bytes of a record besides its content, at most, for paths of usual lengths. */
  val Overhead: Int = 4096

  def bytes(record: LogRecord): Array[Byte] = {
    val out = new FieldWriter
    out.byte(Version)
    out.uuid(record.writer)
    out.long(record.number)
    out.long(record.time)
    write(out, record.change)
    out.result
  }

  private def write(out: FieldWriter, change: Change): Unit = change match {
    case Created(store) =>
      out.byte(1)
      out.uuid(store)
    case Piece(content) =>
      out.byte(2)
      out.content(content)
    case Put(path, overwrite, pieces, content) =>
      out.byte(3)
      out.path(path)
      out.flag(overwrite)
      out.int(pieces)
      out.content(content)
    case Delete(path, recursive) =>
      out.byte(4)
      out.path(path)
      out.flag(recursive)
    case Rename(from, to, overwrite) =>
      out.byte(5)
      out.path(from)
      out.path(to)
      out.flag(overwrite)
    case MakeFolder(path) =>
      out.byte(6)
      out.path(path)
    case SnapshotBegin(id) =>
      out.byte(7)
      out.uuid(id)
    case SnapshotPart(id, index, content) =>
      out.byte(8)
      out.uuid(id)
      out.int(index)
      out.content(content)
    case SnapshotEnd(id, parts, checksum) =>
      out.byte(9)
      out.uuid(id)
      out.int(parts)
      out.long(checksum)
  }

  /** The record; None for bytes that are none, and for those of a newer version. */
  def parse(bytes: Array[Byte]): Option[LogRecord] = Try {
    val in = new FieldReader(bytes)
    Option.when(in.byte() == Version)(LogRecord(in.uuid(), in.long(), in.long(), change(in)))
  }.toOption.flatten

  private def change(in: FieldReader): Change = in.byte() match {
    case 1     => Created(in.uuid())
    case 2     => Piece(in.content())
    case 3     => Put(in.path(), in.flag(), in.int(), in.content())
    case 4     => Delete(in.path(), in.flag())
    case 5     => Rename(in.path(), in.path(), in.flag())
    case 6     => MakeFolder(in.path())
    case 7     => SnapshotBegin(in.uuid())
    case 8     => SnapshotPart(in.uuid(), in.int(), in.content())
    case 9     => SnapshotEnd(in.uuid(), in.int(), in.long())
    case other => throw new IllegalArgumentException(s"a change of kind $other")
  }
}
