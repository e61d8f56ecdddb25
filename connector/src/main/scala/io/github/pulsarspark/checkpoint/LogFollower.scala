package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.{ExecutionException, TimeUnit, TimeoutException}

import scala.annotation.tailrec
import scala.concurrent.duration.FiniteDuration
import scala.util.{Failure, Success, Try, Using}

import io.github.pulsarspark.checkpoint.log.{Change, Folded, LogRecord, LogReplay, LogState, LogView, RecordFormat}
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.journal.{JournalReader, JournalRecord, JournalTopic}

/** Follows the log of a store on a thread of its own and folds its records. Any thread may ask for the state. A record
  * of this JVM is folded as soon as the broker has stored it, if it directly follows the last one.
  *
  * It begins at the root of the log. When the log was cut before the place that it had reached, it begins at the root
  * again: brokers delete whole ledgers, so that its last record proves that none is missing.
  *
  * @param patience
  *   the longest wait for a record
  */
private[checkpoint] final class LogFollower(
    journal: JournalTopic,
    patience: FiniteDuration,
    listener: LogFollower.Listener
) extends AutoCloseable {
  import LogFollower._

  private val lock              = new Object
  private val folding           = new ReentrantLock      // of who changes the view
  private var view              = LogView.begin(Position.BeforeAll)
  private var failure           = Option.empty[Throwable]
  private var restartedUpTo     = Option.empty[Position] // of the thread
  @volatile private var reading = Option.empty[JournalReader]
  @volatile private var isOpen  = true

  /** Reads what is there; returns the state, or None for a log without records. */
  def start(): Option[LogState] = {
    val bounds = journal.bounds()
    begin(bounds.root)
    val thread = new Thread(() => follow(), s"pulsar-spark: log of ${journal.name}")
    thread.setDaemon(true)
    thread.start()
    val last = bounds.last.orElse(Option.unless(bounds.root.isBeforeLedger)(marked()))
    last.map { end =>
      await("Reading the log")(v => v.place >= end || v.state.isRight)
      if (current.state.isLeft && journal.bounds().root == bounds.root)
        throw Conditions.CheckpointStoreCut(topic = journal.name).exception
      upTo(end)
    }
  }

  /** Appends a record that changes nothing; returns its place. A root that was moved has a snapshot behind it, also
    * where the broker does not say the end: a record behind all others shows whether it is there.
    */
  private def marked(): Position = {
    val record = LogRecord(UUID.randomUUID(), 1, System.currentTimeMillis(), Change.MakeFolder(Nil))
    try Using.resource(journal.writer())(
        _.append(RecordFormat.bytes(record)).get(patience.toMillis, TimeUnit.MILLISECONDS)
      )
    catch {
      case e: ExecutionException => throw e.getCause
      case _: TimeoutException   => throw late("Reading the log")
    }
  }

  /** The state as far as this JVM knows it. */
  def state: LogState = upTo(Position.BeforeAll)

  /** The state at a place of the log, or later. */
  def upTo(place: Position): LogState = {
    val reached = await("Reading the log")(v => v.place >= place && v.state.isRight)
    reached.state.getOrElse(throw unknown)
  }

  /** Asks the broker for the position of the last record; None if it does not say. A reader that is closed meanwhile
    * fails: the next one is asked, or the failure that closed it is thrown.
    */
  @tailrec def end(): Option[Position] = {
    lock.synchronized(failure).foreach(throw _)
    val asked = reading
    Try(asked.flatMap(_.end())) match {
      case Success(found)                 => found
      case Failure(_) if asked != reading => end()
      case Failure(e)                     => throw lock.synchronized(failure).getOrElse(e)
    }
  }

  /** Fails if the topic does not have the newest record that was folded. */
  def checkNotReplaced(): Unit = if (!journal.has(current.place)) {
    fail(replaced)
    throw replaced
  }

  /** True until following fails for good. */
  def isUsable: Boolean = lock.synchronized(failure.isEmpty) && isOpen

  private def current: LogView = lock.synchronized(view)

  /** Waits for a view. While the log is read from its root, each record gives the wait its time again. */
  private def await(what: String)(isReached: LogView => Boolean): LogView = lock.synchronized {
    var seen  = view
    var until = System.nanoTime() + patience.toNanos
    while (failure.isEmpty && !isReached(view)) {
      if (view.state.isLeft && view.place != seen.place) {
        seen = view
        until = System.nanoTime() + patience.toNanos
      }
      val left = (until - System.nanoTime()) / 1000000
      if (left <= 0) throw late(what)
      lock.wait(left)
    }
    failure.foreach(throw _)
    view
  }

  private def late(what: String) = Conditions.CheckpointStoreTimeout(what = what, topic = journal.name,
    waited = patience.toMillis.toString).exception

  private def begin(root: Position): Unit = {
    val before = reading
    reading = Some(journal.reader(root))
    before.foreach(_.close())
    show(LogView.begin(root))
  }

  private def show(next: LogView): Unit = lock.synchronized {
    view = next
    lock.notifyAll()
  }

  private def follow(): Unit =
    try while (isOpen) reading.foreach { reader =>
        val record = reader.next().get()
        folding.lock()
        try take(record)
        finally folding.unlock()
      }
    catch {
      case e: ExecutionException => fail(e.getCause)
      case e: Throwable          => fail(e) // nobody else would tell those who wait
    }

  /** Ends the store: all that wait fail, and so does who comes later. The first failure counts: it closes the reader,
    * which is no failure of its own.
    */
  def fail(e: Throwable): Unit = {
    val why = lock.synchronized {
      failure = failure.orElse(Some(e))
      lock.notifyAll()
      failure
    }
    reading.foreach(_.close())
    why.foreach(listener.broken)
  }

  /** Folds a record of this JVM that the broker has stored, if no other can be before it; it will arrive again. Does
    * not wait: a thread of the client calls it.
    */
  def stored(record: LogRecord, at: Position): Unit = if (folding.tryLock())
    try {
      val before = current
      before.stored(record, at).foreach { case (next, folded) => showFolded(before, next, record, folded) }
    } finally folding.unlock()

  private def take(record: JournalRecord): Unit = {
    val before = current
    if (record.position > before.place) // else it came again after a lost connection
      if (isContinued(before.place, record.position)) fold(before, record) else restart(before)
  }

  private def isContinued(last: Position, next: Position): Boolean =
    last.ledgerId == next.ledgerId || current.state.left.exists(_ == LogReplay()) || last.isBeforeLedger ||
      journal.has(last)

  private def fold(before: LogView, found: JournalRecord): Unit = {
    val record = RecordFormat.parse(found.bytes).getOrElse(throw unreadable(found))
    before.state match {
      case Left(replay) =>
        val next = (replay + record).map(checked)
        // a log that goes on has a snapshot there
        if (next.isLeft && restartedUpTo.exists(found.position >= _)) throw replaced
        show(LogView(next, found.position, before.store))
      case Right(state) =>
        val (next, folded) = before.after(state, record, found.position)
        showFolded(before, next, record, folded)
    }
  }

  private def showFolded(before: LogView, next: LogView, record: LogRecord, folded: Folded): Unit = {
    show(next)
    listener.arrived(Arrival(record, folded, before.place))
  }

  private def unreadable(found: JournalRecord) = RecordFormat.version(found.bytes) match {
    case Some(version) if version != RecordFormat.Version =>
      Conditions.CheckpointStoreVersion(topic = journal.name, position = found.position.toString,
        version = version.toString, known = RecordFormat.Version.toString).exception
    case _ => Conditions.CheckpointStoreCorrupt(topic = journal.name, position = found.position.toString).exception
  }

  private def restart(before: LogView): Unit = {
    val bounds = journal.bounds()
    if (bounds.last.isEmpty && before.store.isDefined) throw replaced
    if (before.store.isDefined) restartedUpTo = bounds.last
    begin(bounds.root)
    lock.synchronized { view = view.copy(seen = before.store) }
    listener.restarted()
  }

  private def checked(state: LogState): LogState = {
    if (current.store.exists(_ != state.store)) throw replaced
    state
  }

  private def replaced = Conditions.CheckpointStoreReplaced(topic = journal.name).exception

  private def unknown = Conditions.Internal(what = "a state that is not known", where = "LogFollower").exception

  override def close(): Unit = {
    isOpen = false
    reading.foreach(_.close())
  }
}

private[checkpoint] object LogFollower {

  /** A record that was folded.
    *
    * @param before
    *   position of the record before it
    */
  final case class Arrival(record: LogRecord, folded: Folded, before: Position)

  /** Calls come from the thread of the follower, those of stored records from threads of the client. */
  trait Listener {
    def arrived(arrival: Arrival): Unit

    /** Records may have been skipped one by one, because a snapshot has them. */
    def restarted(): Unit

    /** No record arrives any more. */
    def broken(why: Throwable): Unit
  }
}
