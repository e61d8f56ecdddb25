package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.fuzz.{FuzzTarget, Pieces}
import io.github.pulsarspark.position.Position

/** A journal of records, from which a store is built again. */
object JournalFuzz extends FuzzTarget {
  private val ids = Seq(new UUID(1, 2), new UUID(3, 4))

  private def journal(changes: Change*) = Pieces.joined(
    changes.zipWithIndex.map { case (change, i) => RecordFormat.bytes(LogRecord(ids(i % 2), 1L + i, 5, change)) }: _*
  )

  private def content(text: String) = new Content(text.getBytes)

  private def apart(entry: Long) = Apart(5, 7, Seq(Position(1, entry), Position(1, entry + 1)))

  private val created = LogState.created(LogRecord(ids.head, 1, 5, Change.Created(ids.head)), ids.head)

  override def seeds: Seq[Array[Byte]] = Seq(
    journal(
      Change.Created(ids.head),
      Change.Put(Seq("a", "f"), overwrite = false, content("text")),
      Change.Rename(Seq("a", "f"), Seq("a", "g"), overwrite = true),
      Change.MakeFolder(Seq("d")),
      Change.Delete(Seq("a"), recursive = true)
    ),
    journal(
      Change.SnapshotBegin(ids.head) +: SnapshotFormat.changes(ids.head, created, 40): _*
    ),
    journal(
      Change.Created(ids.head),
      Change.Created(ids.head),
      Change.Put(Seq("f"), overwrite = false, apart(3)),
      Change.MakeFolder(Seq("d")),
      Change.Copied(Seq("f"), apart(3).places, apart(9))
    )
  )

  override def decode(bytes: Array[Byte]): Any =
    Pieces.of(bytes).flatMap(RecordFormat.parse(_)).foldLeft[Either[LogReplay, LogState]](Left(LogReplay())) {
      case (Left(replay), record) => replay + record
      case (Right(state), record) => Right((state + record).state)
    } match {
      case Right(state) => SnapshotFormat.parse(SnapshotFormat.bytes(state))
      case Left(replay) => replay
    }
}
