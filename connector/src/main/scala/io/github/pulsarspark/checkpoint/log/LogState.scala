package io.github.pulsarspark.checkpoint.log

import java.util.UUID

/** State of a store after a prefix of its log. Immutable and pure: every JVM folds the same records to the same state.
  *
  * @param writers
  *   those that have written lately
  * @param written
  *   size of the log since the store was created, without snapshots
  * @param begun
  *   snapshots that are not complete, each with the size of the log at its beginning
  * @param covered
  *   size of the log at the beginning of the newest complete snapshot
  */
private[checkpoint] final case class LogState(
    store: UUID,
    tree: Tree,
    writers: Map[UUID, WriterState],
    written: LogSize,
    begun: Map[UUID, LogSize],
    covered: LogSize
) {
  import LogState._

  /** The state after one more record, and what became of its change. A record that is there for the second time changes
    * nothing: it neither wins nor loses.
    */
  def +(record: LogRecord): Folded = {
    val before = writers.getOrElse(record.writer, WriterState(0, Vector.empty, 0))
    if (record.number <= before.last) Folded(this, Outcome.Repeated)
    else {
      val size  = if (isOfSnapshot(record.change)) written else written + sizeOf(record.change)
      val after = WriterState(record.number, Vector.empty, size.records)
      copy(written = size, writers = writers.updated(record.writer, after)).changed(record, before)
    }
  }

  private def changed(record: LogRecord, writer: WriterState): Folded = record.change match {
    case Change.Created(_)     => Folded(this, Outcome.Repeated) // two JVMs created it, the first one did
    case Change.Piece(content) =>
      val kept = writers(record.writer).copy(pieces = writer.pieces :+ content)
      Folded(copy(writers = writers.updated(record.writer, kept)), Outcome.Done)
    case Change.Put(path, overwrite, pieces, last) =>
      if (writer.pieces.size < pieces) Folded(this, Outcome.Refused(Refusal.Incomplete))
      else {
        val whole = Array.concat(writer.pieces.takeRight(pieces).map(_.bytes) :+ last.bytes: _*)
        withTree(tree.put(path, FileNode(new Content(whole), record.time), overwrite))
      }
    case Change.Delete(path, recursive)     => withTree(tree.delete(path, recursive))
    case Change.Rename(from, to, overwrite) => withTree(tree.rename(from, to, overwrite))
    case Change.MakeFolder(path)            => withTree(tree.makeFolder(path, record.time))
    case Change.SnapshotBegin(id)           => Folded(copy(begun = begun.updated(id, written)), Outcome.Done)
    case _: Change.SnapshotPart             => Folded(this, Outcome.Done)
    case Change.SnapshotEnd(id, _, _)       =>
      begun.get(id).fold(Folded(this, Outcome.Repeated))(at => Folded(after(at), Outcome.Done))
  }

  private def withTree(changed: Either[Refusal, Tree]): Folded =
    changed.fold(why => Folded(this, Outcome.Refused(why)), tree => Folded(copy(tree = tree), Outcome.Done))

  /** Forgets snapshots that began before the complete one, and writers that are gone. */
  private def after(complete: LogSize): LogState = copy(
    covered = if (complete.records > covered.records) complete else covered,
    begun = begun.filter(_._2.records > complete.records),
    writers = writers.filter(_._2.seen >= written.records - WriterRecords)
  )

  /** True when a snapshot would make the log much shorter, and nobody is writing one. */
  def isSnapshotDue(least: LogSize): Boolean = {
    val records = written.records - covered.records
    val isDue   = records >= math.max(least.records, 2 * tree.root.count) ||
      written.bytes - covered.bytes >= math.max(least.bytes, 2 * tree.root.bytes)
    isDue && !begun.values.exists(_.records > written.records - SnapshotRecords)
  }
}

private[checkpoint] object LogState {

  /** A resent record is at most this many records behind the first one. */
  private val WriterRecords = 100000L

  /** The writer of a snapshot that is not complete after this many records is gone. */
  private val SnapshotRecords = 500L

  /** Size of a record besides its content, about. */
  private val RecordBytes = 200L

  def created(record: LogRecord, store: UUID): LogState = {
    val writer = record.writer -> WriterState(record.number, Vector.empty, 1)
    LogState(store, Tree.empty, Map(writer), LogSize(1, RecordBytes), Map.empty, LogSize(0, 0))
  }

  private def isOfSnapshot(change: Change) = change match {
    case _: Change.SnapshotBegin | _: Change.SnapshotPart | _: Change.SnapshotEnd => true
    case _                                                                        => false
  }

  private def sizeOf(change: Change): LogSize = LogSize(
    1,
    RecordBytes +
      (change match {
        case Change.Piece(content)        => content.bytes.length
        case Change.Put(_, _, _, content) => content.bytes.length
        case _                            => 0
      })
  )
}

/** Number and size of records. */
private[checkpoint] final case class LogSize(records: Long, bytes: Long) {
  def +(more: LogSize): LogSize = LogSize(records + more.records, bytes + more.bytes)
}

/** Records of a writer, as far as later ones need them.
  *
  * @param last
  *   number of its last one
  * @param pieces
  *   its last ones, as long as they are pieces
  * @param seen
  *   records in the log when it wrote the last one
  */
private[checkpoint] final case class WriterState(last: Long, pieces: Vector[Content], seen: Long)

/** State after a record, with what became of it. */
private[checkpoint] final case class Folded(state: LogState, outcome: Outcome)

private[checkpoint] sealed trait Outcome

private[checkpoint] object Outcome {
  case object Done                       extends Outcome
  case object Repeated                   extends Outcome
  final case class Refused(why: Refusal) extends Outcome
}
