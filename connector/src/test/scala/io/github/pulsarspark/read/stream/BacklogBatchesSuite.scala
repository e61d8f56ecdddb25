package io.github.pulsarspark.read.stream

import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.Random

import io.github.pulsarspark.TestSeed
import io.github.pulsarspark.position.PulsarOffset

/** Backlogs that are read where they are stored, then the tail, in real-time batches that end anywhere. */
class BacklogBatchesSuite extends LiveSuite {
  import BacklogBatchesSuite._

  test("backlogs in many ledgers while messages arrive: every message is one row, in the order of its partition") {
    val found = (1 to Samples).map(_ =>
      read(TestSeed.next(), "readLevel" -> "segment")(Backlog(ledgers = 8, entries = 6, messages = 40))
    )
    // a sample may have closed ledgers nowhere
    for (metric <- Seq("pulsarBookieRows", "pulsarBrokerRows")) assert(found.exists(_(metric) > 0), metric)
  }

  test("ledgers that are not where they were: the broker reads them, and every message is one row") {
    for (_ <- 1 to 2) {
      val found = read(TestSeed.next())(
        Backlog(ledgers = 6, entries = 9, messages = 30, bytes = 8000, lost = true, micros = 800000)
      )
      assert(found("pulsarBookieRows") > 0 && found("pulsarBrokerRows") > 0, found)
    }
  }

  test("a backlog that is little: the broker reads it, and nobody is asked where it is stored") {
    val found = read(TestSeed.next())(Backlog(ledgers = 1, entries = 9, messages = 10, rolls = false))
    assertEquals(found("pulsarBookieRows"), 0L)
    assertEquals(found(Lists), 0L)
  }

  test("partitions take turns inside entries: each row counts where its own entry was read") {
    using { topic =>
      val rows = Map("p0" -> mutable.Buffer.empty[String], "p1" -> mutable.Buffer.empty[String])
      topic.store("p0", 0 -> Nil)
      topic.store("p1", 1 -> Nil)
      for (i <- 0 until 5) topic.append("p0", (0 until 2500).map(n => s"p0 ${2500 * i + n}"))
      topic.append("p0", Seq("p0 12500"), Some(2))
      for (i <- 0 until 60) topic.append("p1", (0 until 70).map(n => s"p1 ${70 * i + n}"))
      val run    = live(topic, adminUrl, "readLevel" -> "segment")
      val wanted = Map("p0" -> 12501, "p1" -> 4200)
      batches(run, topic.offset("p0 0:-1, p1 1:-1"), 2000000, rows)(sizes(rows) == wanted)
      assertEquals(sizes(rows), wanted)
      assertEquals(Tiers.map(run.metric), Seq(Some("12500"), Some("4201"), Some("0")))
    }
  }

  for ((level, bytes) <- Seq("segment" -> 0, "auto" -> 200000))
    test(s"readLevel=$level, ledgers that are deleted between the plan and its task: a loss by name, and the rest") {
      using { topic =>
        val rows  = Map("p0" -> mutable.Buffer.empty[String])
        topic.store("p0", 0 -> Nil)
        val texts = (0 until 40).map(n => s"p0 $n ".padTo(bytes, 'x'))
        texts.grouped(4).zipWithIndex.foreach { case (some, i) =>
          topic.append("p0", some, Option.when(i > 0 && i % 3 == 0)(i / 3))
        }
        def read(options: (String, String)*)(planned: => Unit)(isDone: => Boolean = false): StreamCase#Run = {
          val run = live(topic, Seq(adminUrl, "readLevel" -> level) ++ options: _*)
          batches(run, topic.offset("p0 0:-1"), 800000, rows, () => planned)(isDone)
          run
        }
        assertEquals(condition(read()(topic.trim("p0", 2))()), "PULSAR_DATA_LOSS.TRIMMED")
        assertEquals(rows("p0").toSeq, Nil)
        assertEquals(condition(read()(())()), "PULSAR_DATA_LOSS.TRIMMED", "the next run")
        val run = read(goOn)(topic.trim("p0", 3))(rows("p0").size >= 4)
        assertEquals(rows("p0").toSeq, texts.drop(36))
        assert(run.lost.nonEmpty)
      }
    }

  /** Reads one batch after the other until all is done: one is enough unless the machine is busy.
    *
    * @param planned
    *   is called between the first plan and its tasks
    */
  private def batches(
      run: StreamCase#Run,
      from: PulsarOffset,
      micros: Long,
      rows: Map[String, mutable.Buffer[String]],
      planned: () => Unit = () => ()
  )(isDone: => Boolean): Unit = {
    var at = batch(run, from, micros, rows, planned)
    for (_ <- 1 to MostBatches if !isDone) at = batch(run, at, micros, rows)
  }

  private def listOf(topic: StreamCase)(request: String): Boolean =
    request.contains("internalStats") && request.contains(topic.topic.split('/').last + "-partition-")

  /** Reads all messages; returns metrics, summed over the runs, and how often ledgers were listed. */
  private def read(seed: Long, options: (String, String)*)(backlog: Backlog): Map[String, Long] = using { topic =>
    val dice   = new Random(seed)
    val sender = new Sender(topic, dice)
    Names.foreach(sender.create)
    val kept          = Names.take(3).flatMap(sender.backlog(_, backlog))
    val lost          = if (backlog.lost) dice.shuffle(kept).take(4) else Nil
    val counted       = mutable.Map.empty[String, Long].withDefaultValue(0L)
    val rows          = Names.map(_ -> mutable.Buffer.empty[String]).toMap
    val ends          = new Random(seed + 1)
    val lengths       = new Lengths(ends, backlog.micros)
    var at            = topic.offset(Names.zipWithIndex.map { case (name, i) => s"$name $i:-1" }.mkString(", "))
    def start()       = live(topic, Seq("realTimeTasks" -> "2", adminUrl, "pollTimeoutMs" -> "20000") ++ options: _*)
    var run           = start()
    def count(): Unit = Tiers.foreach(name => counted(name) += run.metric(name).get.toLong)

    at = batch(run, at, lengths.next(rows), rows)
    lost.foreach(ledger => cluster.lose(ledger))
    val sending  = Future(sender.send(backlog.rolls))
    val deadline = Deadline.now + 5.minutes
    while (!sending.isCompleted || rows != sender.sent) {
      sending.value.foreach(_.get)
      assert(deadline.hasTimeLeft(), s"${sizes(rows)} of ${sizes(sender.sent)}")
      at = batch(run, at, lengths.next(rows), rows)
      if (ends.nextInt(20) == 0) {
        count()
        run = start()
      }
    }
    Await.result(sending, 1.minute)
    at = batch(run, at, 20000, rows)
    count()
    assertEquals(sizes(rows), sizes(sender.sent))
    assertEquals(rows, sender.sent)
    assertEquals(run.lost, Nil)
    assertEquals(counted.values.sum, rows.values.map(_.size).sum.toLong, counted)
    counted.toMap + (Lists -> cluster.takeAdminRequests().count(listOf(topic)).toLong)
  }

  private def sizes(texts: Map[String, mutable.Buffer[String]]) = texts.view.mapValues(_.size).toMap

  /** Appends messages to partitions. */
  private final class Sender(topic: StreamCase, dice: Random) {
    val sent: Map[String, mutable.Buffer[String]] = Names.map(_ -> mutable.Buffer.empty[String]).toMap
    private var ledger                            = Names.size

    def create(name: String): Unit = topic.store(name, Names.indexOf(name) -> Nil)

    /** Stores messages in some ledgers; returns those that are closed. */
    def backlog(name: String, backlog: Backlog): Seq[Long] = {
      val ledgers = (1 to (if (backlog.bytes > 0) backlog.ledgers else 1 + dice.nextInt(backlog.ledgers))).map {
        number =>
          for (entry <- 1 to math.max(1, if (backlog.bytes > 0) backlog.entries else dice.nextInt(backlog.entries + 1)))
            append(name, if (backlog.bytes > 0) backlog.messages else 1 + dice.nextInt(backlog.messages), backlog.bytes,
              opens = number > 1 && entry == 1)
          if (number == 1) Names.indexOf(name) else ledger
      }
      ledgers.init.map(id => topic.position(s"$id:0").ledgerId)
    }

    /** Sends batches of a few messages to partitions by chance; a partition begins another ledger now and then. */
    def send(rolls: Boolean): Unit = for (_ <- 1 to LiveEntries) {
      val name = Names(dice.nextInt(Names.size))
      append(name, 1 + dice.nextInt(20), 0, opens = rolls && sent(name).nonEmpty && dice.nextInt(20) == 0)
      LockSupport.parkNanos(dice.nextInt(LongestPauseNanos).toLong)
    }

    private def append(name: String, messages: Int, bytes: Int, opens: Boolean): Unit = {
      val texts = (sent(name).size until sent(name).size + messages).map(n => s"$name $n ".padTo(bytes, 'x'))
      sent(name) ++= texts
      val next = Option.when(opens) { ledger += 1; ledger }
      topic.append(name, texts, next)
    }
  }
}

private object BacklogBatchesSuite {

  /** The last one has no backlog. */
  private val Names = Seq("p0", "p1", "p2", "p3")
  private val Tiers = Seq("pulsarBookieRows", "pulsarBrokerRows", "pulsarTieredRows")

  /** Number of requests for the ledgers of the topic. */
  private val Lists = "lists of ledgers"

  private val MostBatches       = 60
  private val Samples           = 8
  private val LiveEntries       = 60
  private val LongestPauseNanos = 2000000

  /** A backlog of each partition: most ledgers, entries of each, and messages of those.
    *
    * @param bytes
    *   of each message, all of the numbers above; 0 for short messages, and up to these numbers of all
    * @param lost
    *   whether bookies lose some ledgers after the first batch
    * @param micros
    *   longest batch; all that finds out where ledgers are begins again in the next one
    * @param rolls
    *   whether ledgers begin while messages arrive
    */
  private final case class Backlog(
      ledgers: Int,
      entries: Int,
      messages: Int,
      bytes: Int = 0,
      lost: Boolean = false,
      micros: Int = 20000,
      rolls: Boolean = true
  )
}
