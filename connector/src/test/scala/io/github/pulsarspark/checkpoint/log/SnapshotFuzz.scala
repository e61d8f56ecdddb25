package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.position.Position

/** The state of a checkpoint store, and records upon it. */
object SnapshotFuzz extends FuzzTarget {
  private val id = new UUID(1, 2)

  private def record(number: Long, change: Change) = LogRecord(id, number, 5, change)

  private val state = LogState.created(record(1, Change.Created(id)), id)
  private val more  = Seq(
    Change.MakeFolder(Seq("a", "b")),
    Change.Put(Seq("a", "f"), overwrite = false, new Content("text".getBytes)),
    Change.SnapshotBegin(id),
    Change.Put(Seq("g"), overwrite = false, Apart(5, 7, Seq(Position(1, 3), Position(1, 4))))
  )

  override def seeds: Seq[Array[Byte]] = Seq(
    state,
    more.zipWithIndex.foldLeft(state) { case (all, (change, i)) => (all + record(2L + i, change)).state }
  ).map(SnapshotFormat.bytes)

  override def decode(bytes: Array[Byte]): Any = SnapshotFormat.parse(bytes).map { found =>
    (found + record(99, Change.Put(Seq("z"), overwrite = true, new Content(Array[Byte](1))))).state
  }
}
