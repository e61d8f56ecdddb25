package io.github.pulsarspark.read.stream

import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Random

import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.position.PulsarOffset

/** Real-time batches of a few milliseconds while messages arrive. */
class ShortBatchesSuite extends StreamSuite {
  import ShortBatchesSuite._

  private implicit val threads: ExecutionContext = ExecutionContext.global

  override val munitTimeout: Duration = 3.minutes

  test("many ends of batches: every message is one row, in the order of its partition, also over restarts") {
    val seed = System.nanoTime()
    using { topic =>
      val sent = names.map(_ -> mutable.Buffer.empty[String]).toMap
      val rows = names.map(_ -> mutable.Buffer.empty[String]).toMap
      names.zipWithIndex.foreach { case (name, i) => topic.store(name, i -> Nil) }
      val sending = Future(send(topic, sent, new Random(seed)))

      val dice            = new Random(seed + 1)
      var run             = start(topic)
      var at              = topic.offset(names.zipWithIndex.map { case (name, i) => s"$name $i:-1" }.mkString(", "))
      var batches         = 0
      def isDone: Boolean = sending.isCompleted && rows == sent
      val deadline        = Deadline.now + 2.minutes
      while (batches < Batches || !isDone) {
        assert(deadline.hasTimeLeft(),
          s"seed $seed: ${rows.map(r => r._1 -> r._2.size)} of ${sent.map(s => s._1 -> s._2.size)}")
        at = batch(run, at, dice.nextInt(LongestMicros).toLong, rows)
        batches += 1
        if (batches % BatchesOfRun == 0) run = start(topic)
      }
      Await.result(sending, 1.minute)
      assertEquals(rows, sent, s"seed $seed")
      assertEquals(run.lost, Nil)
    }
  }

  private def start(topic: StreamCase): StreamCase#Run = {
    val run = topic.start("realTimeTasks" -> "2")
    run.source.prepareForRealTimeMode()
    run
  }

  /** Sends batches of a few messages to partitions by chance; a partition begins another ledger now and then. */
  private def send(topic: StreamCase, sent: Map[String, mutable.Buffer[String]], dice: Random): Unit = {
    var ledger = names.size
    for (_ <- 1 to Entries) {
      val name  = names(dice.nextInt(names.size))
      val texts = Seq.fill(1 + dice.nextInt(MostMessages))(name).zipWithIndex.map { case (n, i) =>
        s"$n ${sent(n).size + i}"
      }
      val next = Option.when(dice.nextInt(EntriesOfLedger) == 0) { ledger += 1; ledger }
      sent(name) ++= texts
      topic.append(name, texts, next)
      LockSupport.parkNanos(dice.nextInt(LongestPauseNanos).toLong)
    }
  }

  /** Reads one batch with a thread for each task; returns its end. */
  private def batch(
      run: StreamCase#Run,
      from: PulsarOffset,
      micros: Long,
      rows: Map[String, mutable.Buffer[String]]
  ): PulsarOffset = {
    val tasks    = run.source.planInputPartitions(from)
    val deadline = System.nanoTime() + micros.micros.toNanos
    val ends     = tasks.toSeq.map { task =>
      Future[PartitionOffset] {
        val reader = run.source.tailsReaders.reader(task)
        try {
          // Spark looks at the time after each row
          while (System.nanoTime() < deadline && reader.next(deadline)) {
            val text = UTF8String.fromBytes(reader.row.getBinary(0)).toString
            rows(text.takeWhile(_ != ' ')) += text // a partition is in one task
          }
          reader.finish()
        } finally reader.close()
      }
    }
    run.source.mergeOffsets(ends.map(Await.result(_, 1.minute)).toArray) match {
      case own: PulsarOffset => own
      case other             => throw new AssertionError(other)
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
