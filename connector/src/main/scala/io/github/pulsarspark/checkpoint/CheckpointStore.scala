package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log._
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.journal.JournalTopic

/** The files of one topic, as all JVMs see them. A change has its effect at the place of its record in the log, and
  * returns when this JVM has folded it: creating a file if it is absent and renaming are linearizable.
  *
  * A file that exists is found without a request. That one does not exist, and what a folder has, is said only after
  * all records up to the end of the log.
  */
private[checkpoint] final class CheckpointStore private (
    connection: PulsarConnection,
    journal: JournalTopic,
    settings: StoreSettings
) extends AutoCloseable {
  private val patience  = settings.client.operationTimeout
  private val writer    = new LogWriter(journal)
  private val snapshots = new SnapshotWriter(journal, writer, patience, settings.snapshotAfter)
  private val follower  = new LogFollower(journal, patience, Waits)

  private object Waits extends LogFollower.Listener {
    override def arrived(arrival: Arrival): Unit = writer.arrived(arrival)
    override def restarted(): Unit               = writer.abandon(late("A change"))
    override def broken(why: Throwable): Unit    = writer.abandon(why)
  }

  private def open(): Unit = {
    val known = follower.start()
    Preflight.check(connection, journal.name)
    if (known.isEmpty) {
      writer.append(Change.Created(UUID.randomUUID()))
      follower.state
    }
    ()
  }

  def isUsable: Boolean = follower.isUsable

  /** Identity of the store, given when its topic was empty. */
  def id: UUID = follower.state.store

  def find(path: Seq[String]): Option[Node] = known(path).orElse(findNow(path))

  /** Sends no request. */
  def known(path: Seq[String]): Option[Node] = follower.state.tree.find(path)

  /** Asks for the end of the log first. */
  def findNow(path: Seq[String]): Option[Node] = refreshed().tree.find(path)

  def put(path: Seq[String], content: Array[Byte], overwrite: Boolean): Outcome = {
    val size = follower.state.tree.root.bytes + content.length
    if (size > settings.maxBytes)
      throw Conditions.CheckpointStoreFull(topic = journal.name, bytes = size.toString,
        limit = settings.maxBytes.toString).exception
    outcome("Writing a file")(writer.put(path, content, overwrite))
  }

  def change(what: String, change: Change): Outcome = outcome(what)(writer.append(change))

  private def outcome(what: String)(appending: CompletableFuture[Arrival]): Outcome = {
    val folded = await(what)(appending).folded
    snapshots.check(folded.state)
    folded.outcome
  }

  private def refreshed(): LogState = follower.end() match {
    case Some(end) => follower.upTo(end)
    // the newest ledger is empty: only a record behind all others shows that none is missing
    case None =>
      follower.checkNotReplaced()
      await("Reading the log")(writer.append(Change.MakeFolder(Nil))).folded.state
  }

  private def await(what: String)(appending: CompletableFuture[Arrival]): Arrival =
    try appending.get(patience.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException => throw e.getCause
      case _: TimeoutException   => throw late(what)
    }

  private def late(what: String) = Conditions.CheckpointStoreTimeout(what = what, topic = journal.name,
    waited = patience.toMillis.toString).exception

  override def close(): Unit =
    try {
      follower.close()
      writer.close()
    } finally connection.close()
}

private[checkpoint] object CheckpointStore {

  /** Opens the store of a topic; creates the topic if it does not exist. */
  def open(topic: String, settings: StoreSettings): CheckpointStore = {
    val connection = PulsarConnection(settings.client)
    val store      =
      try new CheckpointStore(connection, connection.journal(topic), settings)
      catch { case e: Throwable => connection.close(); throw e }
    try {
      store.open()
      store
    } catch { case e: Throwable => store.close(); throw e }
  }

  /** True if there is a store of this topic. Creates nothing. */
  def exists(topic: String, settings: StoreSettings): Boolean = {
    val connection = PulsarConnection(settings.client)
    try connection.broker().partitions(Seq(topic)).contains(topic)
    finally connection.close()
  }
}
