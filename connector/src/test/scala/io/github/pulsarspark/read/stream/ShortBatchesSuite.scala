package io.github.pulsarspark.read.stream

import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.Random

import io.github.pulsarspark.TestSeed

/** Real-time batches of a few milliseconds while messages arrive. */
class ShortBatchesSuite extends LiveSuite {
  import ShortBatchesSuite._

  test("many ends of batches: every message is one row, in the order of its partition, also over restarts") {
    val seed = TestSeed.next()
    using { topic =>
      val sent = names.map(_ -> mutable.Buffer.empty[String]).toMap
      val rows = names.map(_ -> mutable.Buffer.empty[String]).toMap
      names.zipWithIndex.foreach { case (name, i) => topic.store(name, i -> Nil) }
      val sending = Future(send(topic, sent, new Random(seed)))

      val lengths         = new Lengths(new Random(seed + 1), LongestMicros)
      var run             = live(topic, "realTimeTasks" -> "2")
      var at              = topic.offset(names.zipWithIndex.map { case (name, i) => s"$name $i:-1" }.mkString(", "))
      var batches         = 0
      def isDone: Boolean = sending.isCompleted && rows == sent
      val deadline        = Deadline.now + 5.minutes
      while (batches < Batches || !isDone) {
        sending.value.foreach(_.get)
        assert(deadline.hasTimeLeft(),
          s"${rows.map(r => r._1 -> r._2.size)} of ${sent.map(s => s._1 -> s._2.size)}")
        at = batch(run, at, lengths.next(rows), rows)
        batches += 1
        if (batches % BatchesOfRun == 0) run = live(topic, "realTimeTasks" -> "2")
      }
      Await.result(sending, 1.minute)
      assertEquals(rows, sent)
      assertEquals(run.lost, Nil)
    }
  }

  /** Sends batches of a few messages to partitions by chance; a partition begins another ledger now and then. */
  private def send(topic: StreamCase, sent: Map[String, mutable.Buffer[String]], dice: Random): Unit = {
    var ledger = names.size
    for (_ <- 1 to Entries) {
      val name  = names(dice.nextInt(names.size))
      val texts = Seq.fill(1 + dice.nextInt(MostMessages))(name).zipWithIndex.map { case (n, i) =>
        s"$n ${sent(n).size + i}"
      }
      val next = Option.when(sent(name).nonEmpty && dice.nextInt(EntriesOfLedger) == 0) { ledger += 1; ledger }
      sent(name) ++= texts
      topic.append(name, texts, next)
      LockSupport.parkNanos(dice.nextInt(LongestPauseNanos).toLong)
    }
  }
}

private object ShortBatchesSuite {
  private val names = Seq("p0", "p1", "p2", "p3")

  /** Minimum number of batches: the test runs as many as it takes to read all. */
  private val Batches      = 250
  private val BatchesOfRun = 50

  private val Entries           = 800
  private val EntriesOfLedger   = 40
  private val MostMessages      = 60
  private val LongestMicros     = 3000
  private val LongestPauseNanos = 1000000
}
