package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.position.Position

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
  * @param floor
  *   contents apart from the log at or before this place are not needed: no file has them, and none can get them
  * @param newest
  *   the last place that a record named
  */
private[checkpoint] final case class LogState(
    store: UUID,
    tree: Tree,
    writers: Map[UUID, WriterState],
    written: LogSize,
    begun: Map[UUID, LogSize],
    covered: LogSize,
    floor: Position,
    newest: Position
) {
  import LogState._

  /** The state after one more record, and what became of its change. A record that is there for the second time changes
    * nothing: it neither wins nor loses.
    */
  def +(record: LogRecord): Folded = {
    val before = writers.getOrElse(record.writer, WriterState(0, 0))
    if (record.number <= before.last) Folded(this, Outcome.Repeated)
    else {
      val size  = if (isOfSnapshot(record.change)) written else written + sizeOf(record.change)
      val after = WriterState(record.number, size.records)
      copy(written = size, writers = writers.updated(record.writer, after)).changed(record)
    }
  }

  private def changed(record: LogRecord): Folded = record.change match {
    case Change.Created(_) => Folded(this, Outcome.Repeated) // two JVMs created it, the first one did
    case Change.Put(path, overwrite, content) =>
      withContent(content)(known => tree.put(path, FileNode(known, record.time), overwrite))
    case Change.Copied(path, from, to) =>
      tree.find(path) match {
        case Some(FileNode(now: Apart, time)) if now.places == from =>
          withContent(to)(known => tree.put(path, FileNode(known, time), overwrite = true))
        case _ => Folded(this, Outcome.Refused(Refusal.Missing))
      }
    case Change.Delete(path, recursive)     => withTree(tree.delete(path, recursive))
    case Change.Rename(from, to, overwrite) => withTree(tree.rename(from, to, overwrite))
    case Change.MakeFolder(path)            => withTree(tree.makeFolder(path, record.time))
    case Change.SnapshotBegin(id)           =>
      val raised = copy(floor = highestFloor)
      // of several that began at once, the first one is written
      if ((underWay - id).nonEmpty) Folded(raised, Outcome.Repeated)
      else Folded(raised.copy(begun = begun.updated(id, written)), Outcome.Done)
    case _: Change.SnapshotPart       => Folded(this, Outcome.Done)
    case Change.SnapshotEnd(id, _, _) =>
      begun.get(id).fold(Folded(this, Outcome.Repeated))(at => Folded(after(at), Outcome.Done))
  }

  private def withContent(content: FileContent)(change: FileContent => Either[Refusal, Tree]): Folded = content match {
    case apart: Apart if apart.places.exists(_ <= floor) => Folded(this, Outcome.Refused(Refusal.Late))
    case apart: Apart                                    =>
      copy(newest = (newest +: apart.places).max).withTree(change(apart.copy(since = written.apart)))
    case _: Content => withTree(change(content))
  }

  private def highestFloor: Position =
    Seq(floor, tree.apart.flatMap(_._2.places).minOption.fold(newest)(_.preceding)).max

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
    val isDue = written.records - covered.records >= math.max(least.records, 2 * tree.root.count) ||
      written.bytes - covered.bytes >= math.max(least.bytes, 2 * tree.root.held) ||
      written.apart - covered.apart >= slack(least)
    isDue && underWay.isEmpty
  }

  /** The snapshots whose writers are not gone. */
  private def underWay = begun.filter(_._2.records > written.records - SnapshotRecords)

  /** Files whose contents have to be stored anew: they keep brokers from deleting much that was stored later. */
  def old(least: LogSize): Seq[(Seq[String], Apart)] = {
    val most = 2 * slack(least)
    tree.apart.filter { case (_, content) => written.apart - content.since >= most }.toSeq
  }

  private def slack(least: LogSize) = math.max(least.apart, 2 * tree.root.bytes)
}

private[checkpoint] object LogState {

  /** A resent record is at most this many records behind the first one. */
  private val WriterRecords = 100000L

  /** The writer of a snapshot that is not complete after this many records is gone. */
  private val SnapshotRecords = 500L

  /** Size of a record besides its content, about. */
  private val RecordBytes = 200L

  def created(record: LogRecord, store: UUID): LogState = {
    val writer = record.writer -> WriterState(record.number, 1)
    val size   = LogSize(1, RecordBytes, 0)
    val none   = Position.BeforeAll
    LogState(store, Tree.empty, Map(writer), size, Map.empty, LogSize(0, 0, 0), none, none)
  }

  private def isOfSnapshot(change: Change) = change match {
    case _: Change.SnapshotBegin | _: Change.SnapshotPart | _: Change.SnapshotEnd => true
    case _                                                                        => false
  }

  private def sizeOf(change: Change): LogSize = change match {
    case Change.Put(_, _, content) => sizeOf(content)
    case Change.Copied(_, _, to)   => sizeOf(to)
    case _                         => LogSize(1, RecordBytes, 0)
  }

  private def sizeOf(content: FileContent) = content match {
    case apart: Apart   => LogSize(1, RecordBytes + apart.held, apart.size)
    case inLog: Content => LogSize(1, RecordBytes + inLog.size, 0)
  }
}

/** Number and size of records.
  *
  * @param apart
  *   size of the contents apart from the log that they name
  */
private[checkpoint] final case class LogSize(records: Long, bytes: Long, apart: Long) {
  def +(more: LogSize): LogSize = LogSize(records + more.records, bytes + more.bytes, apart + more.apart)
}

/** Records of a writer, as far as later ones need them.
  *
  * @param last
  *   number of its last one
  * @param seen
  *   records in the log when it wrote the last one
  */
private[checkpoint] final case class WriterState(last: Long, seen: Long)

/** State after a record, with what became of it. */
private[checkpoint] final case class Folded(state: LogState, outcome: Outcome)

private[checkpoint] sealed trait Outcome

private[checkpoint] object Outcome {
  case object Done                       extends Outcome
  case object Repeated                   extends Outcome
  final case class Refused(why: Refusal) extends Outcome
}
