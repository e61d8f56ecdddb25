package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.util.{Failure, Try, Using}

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log.{Change, Content, Outcome, Refusal}
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.journal.JournalTopic
import io.github.pulsarspark.storage.KilledTasks

/** Records of a JVM that it folds before they arrive, with a broker in this JVM that holds them back. */
class LogFollowerSuite extends WriteSuite {
  import LogFollowerSuite._

  /** A JVM that uses a log, as a store does. */
  private final class User(journal: JournalTopic) extends AutoCloseable with LogFollower.Listener {
    private val told     = new CountDownLatch(2)
    private val follower = new LogFollower(journal, 3.minutes, this)
    private val writer   = new LogWriter(journal,
      (record, at) => {
        follower.stored(record, at)
        told.countDown()
      })
    follower.start()

    def create(): Unit = {
      writer.append(Change.Created(UUID.randomUUID))
      follower.state
      ()
    }

    def append(change: Change): CompletableFuture[Arrival] = writer.append(change)

    def end(): Option[Position] = follower.end()

    def fail(why: Throwable): Unit = follower.fail(why)

    def awaitTold(): Unit = assert(told.await(180, TimeUnit.SECONDS))

    override def arrived(arrival: Arrival): Unit = writer.arrived(arrival)
    override def restarted(): Unit               = ()
    override def broken(why: Throwable): Unit    = writer.abandon(why)

    override def close(): Unit = {
      follower.close()
      writer.close()
    }
  }

  private def user(name: String) = new User(connection.journal(topic(name)))

  private lazy val connection = PulsarConnection(client())

  override def afterAll(): Unit =
    try connection.close()
    finally super.afterAll()

  private def outcome(appended: CompletableFuture[Arrival]): Outcome =
    appended.get(180, TimeUnit.SECONDS).folded.outcome

  private def put(name: String): Change = Change.Put(Seq(name), overwrite = false, new Content(name.getBytes))

  private def holding[A](name: String)(body: => A): A = {
    cluster.writes.held = Set(topic(name))
    try body
    finally {
      cluster.writes.held = Set.empty
      cluster.add(cluster.topic(topic(name)))
    }
  }

  test("a record of this JVM that directly follows the last one is folded when the broker has stored it") {
    store("early")
    Using.resource(user("early")) { one =>
      one.create()
      holding("early") {
        assertEquals(outcome(one.append(put("f"))), Outcome.Done)
        assertEquals(outcome(one.append(put("f"))), Outcome.Refused(Refusal.Exists))
      }
      assertEquals(outcome(one.append(put("f"))), Outcome.Refused(Refusal.Exists), "those that arrive count once")
      assertEquals(outcome(one.append(put("g"))), Outcome.Done)
    }
  }

  test("a record behind one of another JVM waits for that one") {
    store("behind")
    Using.resources(user("behind"), user("behind")) { (first, second) =>
      first.create()
      outcome(second.append(Change.MakeFolder(Seq("d"))))
      outcome(first.append(Change.MakeFolder(Seq("has read d"))))
      val behind = holding("behind") {
        outcome(first.append(Change.MakeFolder(Seq("e"))))
        val appended = second.append(put("e"))
        second.awaitTold()
        appended
      }
      assertEquals(outcome(behind), Outcome.Refused(Refusal.IsFolder))
    }
  }

  test("a store that fails fails by its first failure, also for who asks for the end of the log at that moment") {
    for (round <- 1 to Rounds) {
      store(s"failing-$round")
      Using.resource(user(s"failing-$round")) { one =>
        one.create()
        val why    = new IllegalStateException(s"a policy, round $round")
        val asking = Seq.fill(Threads)(CompletableFuture.supplyAsync(() => firstFailure(one)))
        one.fail(why)
        asking.foreach(each => assertEquals(each.get(180, TimeUnit.SECONDS), why))
        KilledTasks.eventually("the log is followed on")(!isFollowed(s"failing-$round"))
        assertEquals(intercept[IllegalStateException](one.end()), why)
      }
    }
  }

  private def firstFailure(user: User): Throwable =
    Iterator.continually(Try(user.end())).collectFirst { case Failure(e) => e }.get

  private def isFollowed(name: String): Boolean =
    Thread.getAllStackTraces.keySet.stream.anyMatch(_.getName == s"pulsar-spark: log of ${topic(name)}")
}

private object LogFollowerSuite {
  private val Rounds  = 5
  private val Threads = 4
}
