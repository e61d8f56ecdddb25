package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.annotation.tailrec

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log._
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.journal.JournalTopic
import io.github.pulsarspark.pulsar.topics.CheckpointTopicNames

/** The files of one topic, as all JVMs see them. A change has its effect at the place of its record in the log, and
  * returns when this JVM has folded it: creating a file if it is absent and renaming are linearizable.
  *
  * A file that exists is found without a request. That one does not exist, and what a folder has, is said only after
  * all records up to the end of the log.
  */
private[checkpoint] final class CheckpointStore private (
    connection: PulsarConnection,
    journal: JournalTopic,
    contentTopic: JournalTopic,
    settings: StoreSettings
) extends AutoCloseable {
  import CheckpointStore._

  private val patience = settings.client.operationTimeout
  private val writer   = new LogWriter(journal, (record, at) => follower.stored(record, at))
  private val contents =
    new ContentStore(contentTopic, patience, () => Preflight.check(connection, contentTopic.name))
  private val snapshots = new SnapshotWriter(journal, writer, contents, patience, settings.snapshotAfter)
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

  /** Ends the store if its topics have got policies that would lose it. */
  def checkPolicies(): Unit =
    try {
      val topics = journal.name +: Option.when(contents.isUsed)(contents.topic).toSeq
      topics.foreach(Preflight.checkAgain(connection, _))
    } catch {
      case e: Throwable with PulsarError if Conditions.CheckpointStorePolicy.is(e) => follower.fail(e)
    }

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
    if (content.length <= math.min(settings.inlineBytes, writer.maxContent.toLong))
      change("Writing a file", Change.Put(path, overwrite, new Content(content)))
    else putApart(path, content, overwrite, Attempts)
  }

  /** A content that brokers may have deleted before its record came is stored again. */
  @tailrec private def putApart(path: Seq[String], content: Array[Byte], overwrite: Boolean, attempts: Int): Outcome =
    change("Writing a file", Change.Put(path, overwrite, contents.write(content))) match {
      case Outcome.Refused(Refusal.Late) if attempts > 1 => putApart(path, content, overwrite, attempts - 1)
      case found                                         => found
    }

  /** The bytes of a file, as it is or as it has become meanwhile; None if it is there no more. */
  @tailrec def read(path: Seq[String], file: FileNode): Option[Array[Byte]] = file.content match {
    case inLog: Content => Some(inLog.bytes)
    case apart: Apart   =>
      contents.read(apart) match {
        case None =>
          findNow(path) match {
            case Some(now: FileNode) if now.content != apart => read(path, now)
            case Some(_: FileNode)                           =>
              throw Conditions.CheckpointStoreContent(topic = contents.topic, path = path.mkString("/"),
                position = apart.places.head.toString).exception
            case _ => None
          }
        case found => found
      }
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
      contents.close()
    } finally connection.close()
}

private[checkpoint] object CheckpointStore {

  /** Number of times that a content is stored for one record, at most. */
  private val Attempts = 3

  /** Opens the store of a topic; creates the topic if it does not exist. */
  def open(topic: String, settings: StoreSettings): CheckpointStore = {
    val connection = PulsarConnection(settings.client)
    val store      =
      try {
        val content = connection.journal(CheckpointTopicNames.content(topic))
        new CheckpointStore(connection, connection.journal(topic), content, settings)
      } catch { case e: Throwable => connection.close(); throw e }
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
