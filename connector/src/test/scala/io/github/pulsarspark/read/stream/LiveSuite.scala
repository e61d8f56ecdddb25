package io.github.pulsarspark.read.stream

import java.util.concurrent.Executors

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Random

import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.position.PulsarOffset

/** Streams in real-time mode, whose batches end when a test says so. Messages are texts that begin with the name of
  * their partition.
  */
abstract class LiveSuite extends StreamSuite {

  /** Gives each task and each sender a thread, however few processors there are. */
  private val pool                                 = Executors.newCachedThreadPool()
  protected implicit val threads: ExecutionContext = ExecutionContext.fromExecutor(pool)

  override def afterAll(): Unit =
    try super.afterAll()
    finally { pool.shutdownNow(); () }

  private val counting = new Object // Spark adds the counts of one task after the other

  private[stream] def live(topic: StreamCase, options: (String, String)*): StreamCase#Run = {
    val run = topic.start(options: _*)
    run.source.prepareForRealTimeMode()
    run
  }

  /** Lengths of batches in microseconds, by chance. They grow while batches find no row: on a busy machine nothing may
    * be read in a few milliseconds.
    */
  protected final class Lengths(dice: Random, most: Int) {
    private val Longest = 5000000
    private var seen    = 0
    private var idle    = 0

    def next(rows: Map[String, mutable.Buffer[String]]): Long = {
      val all = rows.values.map(_.size).sum
      idle = if (all > seen) 0 else idle + 1
      seen = all
      dice.nextInt(math.min(most << math.min(idle / 5, 6), Longest)).toLong
    }
  }

  /** Reads one batch with a thread for each task; returns its end.
    *
    * @param planned
    *   is called between the plan and its tasks
    */
  private[stream] def batch(
      run: StreamCase#Run,
      from: PulsarOffset,
      micros: Long,
      rows: Map[String, mutable.Buffer[String]],
      planned: () => Unit = () => ()
  ): PulsarOffset = {
    val tasks = run.source.planInputPartitions(from)
    planned()
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
        } finally counting.synchronized(reader.close())
      }
    }
    run.source.mergeOffsets(ends.map(Await.result(_, 3.minutes)).toArray) match {
      case own: PulsarOffset => own
      case other             => throw new AssertionError(other)
    }
  }
}
