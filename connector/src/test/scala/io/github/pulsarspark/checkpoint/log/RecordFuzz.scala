package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.position.Position

/** Records of a checkpoint store. What is read is written as the same bytes' record. */
object RecordFuzz extends FuzzTarget {
  private val id      = new UUID(1, 2)
  private val content = new Content("text".getBytes)
  private val apart   = Apart(5, 7, Seq(Position(1, 3), Position(1, 4)))

  override def seeds: Seq[Array[Byte]] = Seq(
    Change.Created(id),
    Change.Put(Seq("a", "b"), overwrite = true, content),
    Change.Put(Seq("a", "b"), overwrite = true, apart),
    Change.Copied(Seq("a", "b"), apart.places, apart),
    Change.Delete(Seq("a"), recursive = true),
    Change.Rename(Seq("a"), Seq("b", "c"), overwrite = false),
    Change.MakeFolder(Seq("d")),
    Change.SnapshotBegin(id),
    Change.SnapshotPart(id, 1, content),
    Change.SnapshotEnd(id, 2, 3)
  ).map(change => RecordFormat.bytes(LogRecord(id, 1, 2, change)))

  override def decode(bytes: Array[Byte]): Any = {
    val record = RecordFormat.parse(bytes)
    record.foreach(found =>
      if (!RecordFormat.parse(RecordFormat.bytes(found)).contains(found))
        throw new IllegalStateException(found.toString)
    )
    record
  }
}
