package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log.{Apart, Change, Content, FileNode, LogRecord, LogSize, LogState}
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.journal.JournalTopic
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Snapshots by [[SnapshotWriter]]: what they leave of a log, and of the contents apart from it. */
class SnapshotEffectsSuite extends WriteSuite {

  private lazy val connection = PulsarConnection(client())
  private val many            = 1L << 40

  override def afterAll(): Unit =
    try connection.close()
    finally super.afterAll()

  private def contentsOf(name: String) = s"$name-content"

  /** A JVM with a store, whose snapshots are due after so much. */
  private final class Jvm(name: String, least: LogSize) extends AutoCloseable with LogFollower.Listener {
    private val journal  = connection.journal(topic(name))
    private val contents = new ContentStore(connection.journal(topic(contentsOf(name))), 3.minutes, () => ())
    private val follower: LogFollower = new LogFollower(journal, 3.minutes, this)
    private val writer                = new LogWriter(journal, (record, at) => follower.stored(record, at))
    private val snapshots             = new SnapshotWriter(journal, writer, contents, 3.minutes, least)

    if (follower.start().isEmpty) {
      writer.append(Change.Created(UUID.randomUUID))
      follower.state
    }

    def state: LogState                   = follower.state
    def change(change: Change): Arrival   = writer.append(change).get(180, TimeUnit.SECONDS)
    def put(file: String, text: String)   = change(Change.Put(Seq(file), overwrite = true, new Content(text.getBytes)))
    def check(): Unit                     = snapshots.check(state)
    def read(file: Apart): Option[String] = contents.read(file).map(new String(_))

    def putApart(file: String, text: String): Apart = {
      change(Change.Put(Seq(file), overwrite = true, contents.write(text.getBytes)))
      apart(file)
    }

    def apart(file: String): Apart = state.tree.find(Seq(file)) match {
      case Some(FileNode(content: Apart, _)) => content
      case other                             => fail(s"$other")
    }

    override def arrived(arrival: Arrival): Unit = writer.arrived(arrival)
    override def restarted(): Unit               = ()
    override def broken(why: Throwable): Unit    = writer.abandon(why)

    override def close(): Unit = {
      follower.close()
      writer.close()
      contents.close()
    }
  }

  private def stored(name: String): String = {
    store(name)
    store(contentsOf(name))
    name
  }

  private def root(name: String)       = cluster.writes.subscriptions.get((topic(name), JournalTopic.Subscription))
  private def lastRecord(name: String) = cluster.topic(topic(name)).entries.last.at

  test("the root moves to the record before the snapshot, from where another JVM has the same state") {
    val name = stored("roots")
    Using.resource(new Jvm(name, LogSize(10, many, many))) { jvm =>
      (1 to 8).foreach(n => jvm.put(s"f${n % 3}", s"$n"))
      jvm.check()
      assertEquals(jvm.state.covered.records, 0L, "9 records are no reason")
      jvm.put("f", "9")
      val before = lastRecord(name)
      jvm.check()
      eventually(s"${root(name)} is not $before")(root(name).contains(before))
      assertEquals(jvm.state.covered.records, 10L)
      Using.resource(new Jvm(name, LogSize(many, many, many)))(other => assertEquals(other.state, jvm.state))
    }
  }

  test("contents that no file has are given up, up to the first that one has") {
    val name = stored("floor")
    Using.resource(new Jvm(name, LogSize(1, many, many))) { jvm =>
      val replaced = jvm.putApart("f", "one")
      val kept     = jvm.putApart("f", "two")
      assert(replaced.places.head < kept.places.head)
      (1 to 2).foreach(_ => jvm.change(Change.MakeFolder(Nil)))
      jvm.check()
      eventually(s"${root(contentsOf(name))}")(root(contentsOf(name)) == replaced.places.lastOption)
      assertEquals(jvm.read(jvm.apart("f")), Some("two"))
    }
  }

  test("an old content is stored anew behind the others; one that is gone keeps no snapshot from its end") {
    val name = stored("old")
    Using.resource(new Jvm(name, LogSize(many, many, 10))) { jvm =>
      val kept = jvm.putApart("kept", "kept")
      val gone = Apart(4, 1, Seq(Position(kept.places.head.ledgerId, 1000000)))
      val lost = jvm.change(Change.Put(Seq("lost"), overwrite = true, gone))
      (1 to 20).foreach(n => jvm.putApart("new", s"new $n"))
      val latest = jvm.apart("new").places.last
      val before = lastRecord(name)
      jvm.check()
      eventually(s"${root(name)}")(root(name).exists(_ > before))
      val copied = jvm.apart("kept")
      assert(copied.places.head > latest, s"$copied")
      assertEquals(jvm.read(copied), Some("kept"))
      assertEquals(jvm.apart("lost").places, gone.places, s"$lost")
    }
  }

  /** A log whose records nobody folds, so that a snapshot waits for its first one. */
  private final class Stuck(val name: String) extends AutoCloseable {
    private val journal = connection.journal(topic(name))
    private val log     = new LogWriter(journal, (_, _) => ())
    private val places  = new ContentStore(connection.journal(topic(contentsOf(name))), 3.minutes, () => ())
    val snapshots       = new SnapshotWriter(journal, log, places, 3.minutes, LogSize(10, many, many))

    /** Threads that write snapshots. */
    def threads: Int =
      Thread.getAllStackTraces.keySet.asScala.count(_.getName == s"pulsar-spark: snapshot of ${journal.name}")

    /** Ends the wait for the record of a snapshot, when the log has so many. */
    def fail(records: Int): Unit = {
      eventually("nothing is written")(cluster.topic(topic(name)).entries.size == records)
      log.abandon(new IllegalStateException("the log is closed"))
    }

    override def close(): Unit = log.close()
  }

  private def after(changes: Int): LogState = {
    val (writer, created) = (UUID.randomUUID, UUID.randomUUID)
    val first             = LogState.created(LogRecord(writer, 1, 0, Change.Created(created)), created)
    (1 to changes).foldLeft(first)((state, n) => (state + LogRecord(writer, n + 1L, 0, Change.MakeFolder(Nil))).state)
  }

  test("one snapshot is written at a time, and the next one when that failed") {
    val stuck = new Stuck(stored("stuck"))
    Using.resource(stuck) { _ =>
      stuck.snapshots.check(after(8))
      assertEquals(stuck.threads, 0, "it is not due")
      (1 to 3).foreach(_ => stuck.snapshots.check(after(9)))
      assertEquals(stuck.threads, 1)
      stuck.fail(records = 1)
      eventually("the snapshot goes on")(stuck.threads == 0)
      stuck.snapshots.check(after(9))
      assertEquals(stuck.threads, 1)
      stuck.fail(records = 2)
    }
  }
}
