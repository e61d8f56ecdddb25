package io.github.pulsarspark.checkpoint.log

import java.util.UUID

/** Finds the state of a log that is read from any place on: from its first record, or by the first snapshot that is
  * complete. Immutable and pure.
  *
  * @param hasSkipped
  *   whether records came before the first that says something: the log has lost its beginning, so that a later
  *   creation is not the first
  * @param later
  *   records from the beginning of the first snapshot on
  * @param begun
  *   how many of them are up to the beginning of each snapshot
  * @param parts
  *   of each snapshot by their index
  */
private[checkpoint] final case class LogReplay(
    hasSkipped: Boolean = false,
    later: Vector[LogRecord] = Vector.empty,
    begun: Map[UUID, Int] = Map.empty,
    parts: Map[UUID, Map[Int, Content]] = Map.empty
) {

  /** The state after one more record, once it is known. */
  def +(record: LogRecord): Either[LogReplay, LogState] = record.change match {
    case Change.Created(store) if !hasSkipped && later.isEmpty => Right(LogState.created(record, store))
    case Change.SnapshotBegin(id)                => Left(append(record).copy(begun = begun.updated(id, later.size + 1)))
    case Change.SnapshotPart(id, index, content) =>
      Left(append(record).copy(parts = parts.updated(id, parts.getOrElse(id, Map.empty).updated(index, content))))
    case end: Change.SnapshotEnd => state(end).map(rest(_, end.id, record)).toRight(append(record))
    case _                       => Left(append(record))
  }

  private def append(record: LogRecord) = {
    val isFirst = record.change.isInstanceOf[Change.SnapshotBegin]
    if (later.isEmpty && !isFirst) copy(hasSkipped = true) else copy(later = later :+ light(record))
  }

  /** Keeps the place of a record of a snapshot, not its bytes. */
  private def light(record: LogRecord) = record.change match {
    case Change.SnapshotPart(id, index, _) =>
      record.copy(change = Change.SnapshotPart(id, index, new Content(Array.emptyByteArray)))
    case _ => record
  }

  private def state(end: Change.SnapshotEnd): Option[LogState] = {
    val own = parts.getOrElse(end.id, Map.empty)
    if (!begun.contains(end.id) || !(0 until end.parts).forall(own.contains)) None
    else {
      val whole = Array.concat((0 until end.parts).map(own(_).bytes): _*)
      Option.when(Apart.checksum(whole) == end.checksum)(whole).flatMap(SnapshotFormat.parse)
    }
  }

  private def rest(state: LogState, id: UUID, end: LogRecord): LogState = (later.drop(begun(id)) :+ end).foldLeft(
    state
  )((now, record) => (now + record).state)
}
