package io.github.pulsarspark.checkpoint.log

import scala.util.Try

/** Records as bytes. The first ones say that it is one, the next one is the version of the format. */
private[checkpoint] object RecordFormat {
  import Change._

  val Version: Int = 2

  private val (first, second) = ('P'.toInt, 'C'.toInt)

  /** Bytes of a record besides its content, at most, for paths of usual lengths. */
  val Overhead: Int = 4096

  def bytes(record: LogRecord): Array[Byte] = {
    val out = new FieldWriter
    out.byte(first)
    out.byte(second)
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
    case Put(path, overwrite, content) =>
      out.byte(2)
      out.path(path)
      out.flag(overwrite)
      out.file(content)
    case Copied(path, from, to) =>
      out.byte(3)
      out.path(path)
      out.several(from)(out.place)
      out.file(to)
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

  /** The version of a record; None for bytes that are none. */
  def version(bytes: Array[Byte]): Option[Int] =
    Option.when(bytes.length > 2 && bytes(0) == first && bytes(1) == second)(bytes(2).toInt)

  /** The record; None for bytes that are none, and for those of another version. */
  def parse(bytes: Array[Byte]): Option[LogRecord] = version(bytes).filter(_ == Version).flatMap { _ =>
    Try {
      val in = new FieldReader(bytes.drop(3))
      LogRecord(in.uuid(), in.long(), in.long(), change(in))
    }.toOption
  }

  private def change(in: FieldReader): Change = in.byte() match {
    case 1     => Created(in.uuid())
    case 2     => Put(in.path(), in.flag(), in.file())
    case 3     => copied(in)
    case 4     => Delete(in.path(), in.flag())
    case 5     => Rename(in.path(), in.path(), in.flag())
    case 6     => MakeFolder(in.path())
    case 7     => SnapshotBegin(in.uuid())
    case 8     => SnapshotPart(in.uuid(), in.int(), in.content())
    case 9     => SnapshotEnd(in.uuid(), in.int(), in.long())
    case other => throw new IllegalArgumentException(s"a change of kind $other")
  }

  private def copied(in: FieldReader) = (in.path(), in.several(in.place()), in.file()) match {
    case (path, from, to: Apart) => Copied(path, from, to)
    case (_, _, other)           => throw new IllegalArgumentException(s"a copy of $other")
  }
}
